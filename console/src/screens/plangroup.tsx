import { useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import type { Event, Plan, Status } from '../api/types'
import { apiPath, kindOf, ownerWord, projectOf } from '../lib/commands'
import { changesOf, type Difference } from '../lib/docdiff'
import { countsOf } from '../lib/plan'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { Section, Table, Text, Time } from '../ui/basics'
import { undeployedOf } from '../ui/pending'
import { named } from '../ui/subject'

/** GroupHead says what the group of a plan is, and how many of its host names the plan changes. */
export function GroupHead({ owner, plan }: { owner: string; plan: Plan | undefined }) {
  const status = useQuery({
    queryKey: ['group of the plan', owner],
    retry: false,
    staleTime: 10_000,
    queryFn: ({ signal }) => request<Pick<Status, 'state' | 'revision'>>('GET', apiPath(owner, '/status'), { query: { view: 'summary' }, signal }),
  })
  const [project = '', app = '', version = '', group = ''] = ownerWord(owner).split('/')
  return (
    <p class="muted" aria-label="Group of the plan">
      Group <Text>{group}</Text> deploys version <Text>{version}</Text> of app <Text>{app}</Text> in project <a href={link(['groups'], { project })}>{project}</a>.{' '}
      {status.data && (status.data.revision > 0 ? `It is ${status.data.state}, with release ${status.data.revision}. ` : 'It has no release yet. ')}
      {plan && countsOf(plan)}
    </p>
  )
}

const changed = { added: 'new', changed: 'changed', removed: 'gone' } as const

/** Undeployed lists the documents that the plan takes up, because they have changed since the last release, and what has changed in them. */
export function Undeployed({ owner }: { owner: string }) {
  const undeployed = useQuery({ ...undeployedOf(owner), enabled: kindOf(owner) !== 'name' })
  const all = undeployed.data ?? []
  const writes = useQuery({
    queryKey: ['writes', owner],
    enabled: all.length > 0 && ['group', 'logical cloud'].includes(kindOf(owner)),
    retry: false,
    staleTime: 10_000,
    queryFn: ({ signal }) => request<{ items: Event[] }>('GET', apiPath(owner, '/events'), { signal }),
  })
  if (all.length === 0) return null
  return (
    <Section title={`Why: ${plural(all.length, 'document')} changed since the last release`} id="undeployed">
      <Table label="Documents that differ from the release" head={['Document', 'Change', 'From, to', 'By']}>
        {all.map((d) => (
          <tr key={d.path}>
            <td>
              <Text>{kindOf(d.path) === 'other' && projectOf(d.path) ? d.path.replace(`${owner}/`, '') : named(d.path)}</Text>
            </td>
            <td>{changed[d.change]}</td>
            <td>{d.revision && d.current ? <Fields all={changesOf(writes.data?.items ?? [], d.path, d.revision, d.current)} revisions={`revision ${d.revision} to revision ${d.current}`} /> : '–'}</td>
            <td>
              <Writer of={d.path} writes={writes.data?.items ?? []} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

/** Writer is who wrote or deleted a document last, and when. */
function Writer({ of, writes }: { of: string; writes: Event[] }) {
  const last = writes.filter((e) => e.path === of && ['stored', 'deleted'].includes(e.outcome)).at(-1) // the newest comes last
  if (!last) return <>–</>
  return (
    <>
      <Text>{last.actor}</Text>, <Time at={last.time} />
    </>
  )
}

/** Fields are the changed fields of a document; its revisions stand for them if they are not known. */
function Fields({ all, revisions }: { all: Difference[]; revisions: string }) {
  if (all.length === 0) return <>{revisions}</>
  return (
    <ul class="plain">
      {all.slice(0, 20).map((d) => (
        <li key={d.field}>
          <Text>{d.field}</Text>: <span class="mono"><Text>{d.from}</Text></span> → <span class="mono"><Text>{d.to}</Text></span>
        </li>
      ))}
      {all.length > 20 && <li class="muted">{plural(all.length - 20, 'field')} more</li>}
    </ul>
  )
}
