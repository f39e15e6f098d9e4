import { useQueries, useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import { useGroupsOfAll } from '../api/lists'
import type { Event } from '../api/types'
import { ownerWord, projectOf } from '../lib/commands'
import { changedGroups, leaving } from '../lib/pending'
import { link } from '../lib/route'
import { Badge, Fault, Loading, Text, Time } from '../ui/basics'
import { Part } from '../ui/part'
import { deployOf } from '../ui/pending'
import { NameLink, Subject, Told } from '../ui/subject'

const shown = 10 // projects, groups and events
const most = 50 // names

const latestEvents = {
  queryKey: ['events', 'trouble'],
  refetchInterval: 15_000,
  queryFn: ({ signal }: { signal: AbortSignal }) => request<{ items: Event[] }>('GET', '/v2/events', { query: { limit: '200' }, signal }),
}

/** Leaving lists the names that a deploy would remove, of the groups that have changed lately. */
export function Leaving() {
  const events = useQuery(latestEvents)
  const changed = changedGroups(events.data?.items ?? [])
  const projects = [...new Set(changed.map(projectOf))].slice(0, shown)
  const waiting = useGroupsOfAll(projects, '200').groups.filter((g) => g.undeployed > 0 && changed.includes(g.path)).slice(0, shown)
  const groups = waiting.map((g) => g.path)
  const plans = useQueries({ queries: waiting.map((g) => deployOf(g.path, g.undeployed)) })
  const found = groups.flatMap((group, n) => {
    const plan = plans[n]?.data
    return plan ? leaving(plan).map((host) => ({ group, host })) : []
  })
  return (
    <Part title="Removals that are not deployed yet" n={found.length} tone="note" id="leaving" means="names that a deploy would remove, because their documents are gone" advice="A deploy of the group removes these names. If that is not meant, bring the documents back before somebody deploys. Only groups with changes in the last 200 events are looked at.">
      <ul class="plain">
        {found.slice(0, most).map(({ group, host }) => (
          <li key={group + host}>
            <NameLink name={host} /> by the next deploy of <Text>{ownerWord(group)}</Text>{' '}
            <a class="button" href={link(['plan'], { owner: group, for: 'deploy' })}>
              Plan deploy
            </a>
          </li>
        ))}
      </ul>
    </Part>
  )
}

/** Refused lists what was accepted and failed lately, and app contexts that were refused. */
export function Refused() {
  const events = useQuery(latestEvents)
  if (!events.data) return events.error ? <Fault error={events.error} /> : <Loading what="events" />
  const failed = events.data.items.filter((e) => e.outcome === 'failed' || e.outcome === 'refused').slice(0, shown)
  return (
    <Part title="Failed releases" n={failed.length} tone="note" id="refused" means="releases and other requests that Signpost accepted and could not finish, and app contexts of EMCO that it refused. A request that the API refuses at once is in no event: only its answer tells why" advice="The latest of the last 200 events: what was accepted and could not be finished, and app contexts of EMCO that Signpost refused. A request that the API refuses at once is not listed.">
      <ul class="plain">
        {failed.map((e, i) => (
          <li key={i}>
            <Time at={e.time} /> <Badge tone="bad">{e.outcome}</Badge> {e.action} by <Text>{e.actor}</Text>: <Subject path={e.path ?? ''} />{' '}
            <Told>{e.message}</Told>
          </li>
        ))}
      </ul>
    </Part>
  )
}
