import { useQuery } from '@tanstack/react-query'
import { useRef } from 'preact/hooks'
import { request } from '../api/client'
import type { DNSName } from '../api/types'
import { link } from '../lib/route'
import { visible } from '../lib/text'
import { Badge, Fault, Section, stateTone, useMainFocus } from '../ui/basics'
import { Told } from '../ui/subject'
import { useName } from './name'

/** Published follows a name until its servers answer it. */
export function Published({ project, host, changed, another }: { project: string; host: string; changed: boolean; another: () => void }) {
  const name = useQuery({
    queryKey: ['published', project, host],
    refetchInterval: 1000,
    queryFn: ({ signal }) => request<DNSName>('GET', `/v2/projects/${encodeURIComponent(project)}/names/${encodeURIComponent(host)}`, { signal }),
  })
  useMainFocus()
  const status = name.data?.status
  const path = `projects/${project}/names/${host}`
  const explained = useName(host)
  const opened = useRef(Date.now())
  const release = explained.dataUpdatedAt > opened.current ? (explained.data?.owners.find((o) => o.owner === path)?.release ?? 0) : 0 // not that of before
  const records = status?.records ?? []
  const nothing = records.length > 0 && records.every((r) => r.conditions.some((c) => c.type === 'Published' && c.reason === 'NoAddress' && !c.message.endsWith(' are not known yet')))
  const targets = [...new Set(records.flatMap((r) => r.targets))]
  const answered = status?.verified === 'True' && status.published !== 'False'
  const isNew = name.data?.metadata.revision === 1
  const steps: [string, string][] = status ? [['Accepted', 'True'], ['Written for the publisher', status.state === 'Instantiated' ? 'True' : 'False'], ['Published', status.published], ['Answered by its servers', status.published === 'False' ? 'False' : status.verified]] : []
  return (
    <Section title={!changed ? `Nothing of ${host} was changed` : answered ? `${host} is answered by its servers` : `${host} is accepted`} id="published">
      <div class="card" role="status" aria-live="polite">
        {name.error && <Fault error={name.error} />}
        {status && <Badge tone={stateTone(status.state)}>{status.state}</Badge>}
        <ol class="timeline">
          {steps.map(([step, truth]) => (
            <li key={step}>
              <span>
                {step} <Badge tone={truth === 'True' ? 'good' : truth === 'False' ? 'wait' : 'unknown'}>{truth === 'True' ? 'yes' : nothing && step !== 'Written for the publisher' ? 'no: it has no address' : truth === 'False' ? 'not yet' : 'not known yet'}</Badge>
              </span>
            </li>
          ))}
        </ol>
        {answered && targets.length > 0 && <p>The answer is {targets.map(visible).join(', ')}{name.data?.spec.ttl ? `, with a TTL of ${name.data.spec.ttl} s` : ''}.</p>}
        {status?.message && !answered && (
          <p class={nothing ? 'notice' : 'muted'}>
            <Told>{status.message}</Told>
          </p>
        )}
      </div>
      <div class="bar">
        <a class="button primary" href={link(['names', host])}>
          Look at the name
        </a>
        {!changed ? null : isNew ? (
          <a class="button risky" href={link(['plan'], { owner: path, for: 'delete' })}>
            Undo: unpublish it
          </a>
        ) : release > 1 ? (
          <a class="button" href={link(['publish'], { project, name: host, release: String(release - 1) })}>
            Undo: go back to release {release - 1}
          </a>
        ) : null}
        <button type="button" onClick={another}>
          Publish another one
        </button>
      </div>
    </Section>
  )
}
