import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import type { DNSName, Plan, Status } from '../api/types'
import { apiPath, kindOf, projectOf } from '../lib/commands'
import { hostsIn, wayBack } from '../lib/plan'
import { link } from '../lib/route'
import { fateOf } from '../lib/verdict'
import { Badge, Section, stateTone, Table, Text } from '../ui/basics'
import { NameLink, Told } from '../ui/subject'
import { useName } from './name'

const most = 10 // names whose state is asked for

/** Done is a plan that was confirmed. */
export interface Done {
  action: string
  plan: Plan
  release: number // that the answer names; 0: none
}

export const backOf = (owner: string) => (kindOf(owner) === 'name' ? link(['names', owner.split('/')[3] ?? '']) : link(['names'], { project: projectOf(owner) }))

/** Result follows an accepted request to its end. before is the release that a name had; 0: not known. */
export function Result({ owner, before, done }: { owner: string; before: number; done: Done }) {
  const isName = kindOf(owner) === 'name'
  const isGroup = kindOf(owner) === 'group'
  const state = useQuery({
    queryKey: ['result', owner, done.plan.token], // that of an earlier plan says nothing of this one
    refetchInterval: 1500,
    retry: false,
    queryFn: async ({ signal }) => {
      if (kindOf(owner) === 'provider') return { state: 'Accepted', message: '' }
      try {
        return isName ? ((await request<DNSName>('GET', apiPath(owner), { signal })).status ?? { state: '', message: '' }) : await request<Status>('GET', apiPath(owner, '/status'), { signal, query: { view: 'summary' } })
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return { state: 'Terminated', message: isName ? 'The name is out of DNS, and its document is deleted.' : 'The document is deleted.' }
        throw error
      }
    },
  })
  useEffect(() => document.getElementById('main')?.focus(), []) // the button that had the focus is gone
  const word = state.data?.state || 'Accepted'
  const ended = word === 'Terminated'
  return (
    <div class="card">
      <Section title={ended ? (isName ? 'Unpublished' : 'Terminated') : 'Accepted'} id="result">
        <p role="status" aria-live="polite">
          <Badge tone={ended ? 'good' : stateTone(word)}>{ended ? 'gone' : word}</Badge> <Told>{state.data?.message ?? ''}</Told>
        </p>
        {ended && isGroup && <p>The documents of the group stay: its apps and its intents.</p>}
      </Section>
      <Names owner={owner} plan={done.plan} ended={isName && ended} />
      <div class="bar">
        {isName && before > 0 && (
          <a class="button" href={link(['publish'], { project: projectOf(owner), name: owner.split('/')[3], release: String(before) })}>
            Undo: publish it again
          </a>
        )}
        {isGroup && <Undo owner={owner} done={done} />}
        {isGroup && <a href={link(['groups'], { project: projectOf(owner) })}>Groups of the project</a>}
        <a href={backOf(owner)}>{isName ? 'Back to the name' : 'Names of the project'}</a>
      </div>
    </div>
  )
}

/** Undo leads to the plan that takes back what was done to a group. */
function Undo({ owner, done }: { owner: string; done: Done }) {
  const back = wayBack(done.action, done.release, done.plan)
  if (!back) return null
  return (
    <a class={back.action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner, for: back.action, to: back.to })}>
      {back.words}
    </a>
  )
}

/** Names are those of the plan, and what became of each. ended is of a name that is out of DNS. */
function Names({ owner, plan, ended }: { owner: string; plan: Plan; ended: boolean }) {
  const hosts = hostsIn(plan)
  if (hosts.length === 0) return null
  return (
    <Section title="Names of this plan" id="result-names">
      <Table label="Names of this plan" head={['Name', 'Planned', 'Now']}>
        {hosts.slice(0, most).map(({ host, planned }) => (
          <tr key={host}>
            <td>
              <NameLink name={host} />
            </td>
            <td>{planned}</td>
            <td>
              <Fate host={host} owner={owner} ended={ended} />
            </td>
          </tr>
        ))}
      </Table>
      {hosts.length > most && <p class="muted">And {hosts.length - most} more.</p>}
    </Section>
  )
}

/** Fate is what became of a name of a plan. */
function Fate({ host, owner, ended }: { host: string; owner: string; ended: boolean }) {
  const name = useName(host)
  if (name.error instanceof Refusal && name.error.status === 404) return <Badge tone="plain">gone</Badge>
  if (!name.data) return <span class="muted">…</span>
  const { tone, word, more } = fateOf(name.data, owner)
  if (ended && word === 'going') return <Badge tone="plain">gone</Badge>
  return (
    <>
      <Badge tone={tone}>{word}</Badge> <Text>{more}</Text>
    </>
  )
}
