import { useQueries, useQuery } from '@tanstack/react-query'
import type { ComponentChildren } from 'preact'
import { request } from '../api/client'
import { useClusters } from '../api/lists'
import { settings } from '../api/session'
import type { Event, FoundNamePage, GroupSummaryPage, Trouble, TroublePage } from '../api/types'
import { advice } from '../lib/advice'
import { drainOf, type Drain } from '../lib/failover'
import { namesOf, wide, type Kind as KindKey } from '../lib/trouble'
import { apiPath, cli, curl, kindOf, ownerWord, projectOf } from '../lib/commands'
import { builtIn } from '../lib/chain'
import { changedGroups, leaving } from '../lib/pending'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, Copy, Fault, Loading, Section, Text, Time, type Tone } from '../ui/basics'
import { deployOf } from '../ui/pending'
import { ClusterLink, Subject, Told } from '../ui/subject'
import { useFailing } from './fleet'

const shown = 10
const most = 50 // of a kind in one list

/** Kind is a kind of trouble that names have, and what to do about it. */
interface Kind {
  key: KindKey
  title: string
  tone: Tone
  means: string
  advice: string
}

const kinds: Kind[] = [
  { key: 'failed', title: 'Failed owners', tone: 'bad', means: 'names and groups whose release could not be stored', advice: advice.failed },
  { key: 'unpublished', title: 'Not published', tone: 'bad', means: 'names that are not at their DNS provider', advice: advice.unpublished },
  { key: 'foreign', title: 'Answered otherwise', tone: 'bad', means: 'names that servers answer with something else', advice: advice.foreign },
  { key: 'unverified', title: 'Not verified', tone: 'unknown', means: 'published names whose answers are not known', advice: advice.unverified },
]

/** TroubleScreen lists what needs somebody, and what to do about it. */
export function TroubleScreen() {
  return (
    <>
      <div class="bar">
        <h1>Trouble</h1>
        <Copy curl={curl('GET', '/v2/names?sort=worst', undefined, settings.value.anonymous)} cli={cli('find', '--worst')} />
      </div>
      <div class="troubles">
        <Machines />
        <Things />
        <Leaving />
        {kinds.map((kind) => (
          <Names key={kind.key} kind={kind} />
        ))}
        <Refused />
      </div>
    </>
  )
}

interface PartProps {
  title: string
  n: number
  tone: Tone
  means: string
  advice: string
  children: ComponentChildren
  id: string
}

/** Part is a kind of trouble: what it means if there is none, and else what to do. */
function Part({ title, n, tone, means, advice, children, id }: PartProps) {
  return (
    <div class={n > 0 ? 'card' : 'card calm'}>
      <Section title={title} id={id} aside={<Badge tone={n > 0 ? tone : 'good'}>{n > 0 ? n.toLocaleString('en') : 'none'}</Badge>}>
        {n > 0 ? (
          <>
            <p>{advice}</p>
            {children}
          </>
        ) : (
          <p class="muted small">{means}</p>
        )}
      </Section>
    </div>
  )
}

/** Names lists names with a kind of trouble. A name that has several is listed once, under the gravest. */
function Names({ kind }: { kind: Kind }) {
  const found = useQuery({
    queryKey: ['trouble', kind.key],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => namesOf(kind.key, (query) => request<FoundNamePage>('GET', '/v2/names', { query, signal })),
  })
  const clusters = useClusters(found.data?.names.some((n) => n.published === 'False') ?? false)
  if (found.error && !found.data) return <Fault error={found.error} />
  if (!found.data) return <Loading what={kind.title.toLowerCase()} />
  const { names, n } = found.data
  return (
    <Part title={kind.title} n={n} tone={kind.tone} means={kind.means} advice={kind.advice} id={kind.key}>
      <ul class="plain">
        {names.slice(0, shown).map((n) => (
          <li key={n.owner + n.name + n.provider + n.scope}>
            <a href={link(['names', n.name])}>
              <bdi>{n.name}</bdi>
            </a>{' '}
            <span class="muted">
              {kindOf(n.owner) === 'name' ? n.project : ownerWord(n.owner)} by {n.provider}
            </span>
            {n.reason && (
              <div class="small">
                <Told>{n.reason}</Told>
                <DrainedBy drain={n.published === 'False' ? drainOf(clusters.data ?? [], n.clusters) : undefined} />
              </div>
            )}
          </li>
        ))}
      </ul>
      <p>
        <a href={link(['names'], wide[kind.key])}>In the list of names{kind.key === 'failed' ? '' : ', with those of the kinds above'}</a>
      </p>
    </Part>
  )
}

/** DrainedBy tells who took the addresses of a name out, and leads to the failover if it was one. */
function DrainedBy({ drain }: { drain: Drain | undefined }) {
  if (!drain) return null
  return (
    <>
      . All its clusters are drained, {drain.one ? 'by' : 'the last one by'}{' '}
      {drain.failover && (
        <>
          <a href={link(['failover', drain.failover])}>a failover</a> of{' '}
        </>
      )}
      <Text>{drain.actor}</Text>, <Time at={drain.since} />
      {drain.reason && (
        <>
          : <Text>{drain.reason}</Text>
        </>
      )}
      .
    </>
  )
}

/** Machines are clusters and external-dns that do not do their part. */
function Machines() {
  const failing = useFailing()
  if (!failing.data) return failing.error ? <Fault error={failing.error} /> : <Loading what="the fleet" />
  const lost = failing.data.items.filter((i) => i.kind === 'cluster')
  const dead = failing.data.items.filter((i) => i.kind === 'externalDNS')
  return (
    <>
      <Part title="Unreachable clusters" n={lost.length} tone="bad" id="lost" means="clusters that do not answer" advice="After five minutes its addresses leave names that have another healthy cluster; other names keep theirs. Check network and credentials by the preflight of the cluster. If it never comes back, abandon it.">
        <ul class="plain">
          {lost.map((i) => (
            <li key={i.cluster}>
              <ClusterLink cluster={i.cluster} /> <a href={link(['names'], { cluster: i.cluster })}>{plural(i.hosts.total, 'name')}</a> <Copy cli={cli('preflight', i.cluster)} />
              {i.message && (
                <div class="small">
                  <Told>{i.message}</Told>
                </div>
              )}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Dead publishers" n={dead.length} tone="bad" id="dead" means="external-dns, and the built-in publisher, that are not available" advice="External-dns, or the built-in publisher, is not available. Changes of these names wait. If the message is not enough, look at the log of external-dns in its cluster.">
        <ul class="plain">
          {dead.map((i) => (
            <li key={i.cluster + i.project + i.provider + i.scope}>
              <a href={link(['names'], { project: i.project, provider: i.provider })}>
                {i.project}/{i.provider}
              </a>{' '}
              in {i.cluster === builtIn ? 'Signpost' : <ClusterLink cluster={i.cluster} />} <span class="muted">{plural(i.hosts.total, 'name')}</span>
              {i.message && (
                <div class="small">
                  <Told>{i.message}</Told>
                </div>
              )}
            </li>
          ))}
        </ul>
      </Part>
    </>
  )
}

/** things are the kinds of trouble that one list of the server has, and what to do about each. */
const things: { kind: Trouble['kind']; title: string; tone: Tone; means: string; advice: string }[] = [
  { kind: 'conflict', title: 'Conflicts', tone: 'bad', means: 'objects that a cluster refuses, or that somebody else has', advice: 'The cluster refuses an object, or an object of somebody else is in its place. Signpost never touches that one. Rename or remove the other object, or grant what the message asks for; Signpost tries again by itself.' },
  { kind: 'pending', title: 'Objects on their way', tone: 'wait', means: 'objects that a cluster does not have yet as they are wanted', advice: 'The cluster does not have these objects as they are wanted yet. If this lasts, the preflight of the cluster shows whether it answers and which right is missing.' },
  { kind: 'held', title: 'Held removals', tone: 'wait', means: 'names that stay, because too many would go at once', advice: 'Too many names would go at once (maxRemoval), so they stay published as they are. If they are to go, confirm the plan of the owner. Otherwise, bring back the Services that they lead to.' },
  { kind: 'leftover', title: 'Leftovers', tone: 'wait', means: 'names that stayed in DNS after their owner was terminated', advice: 'These names stayed in DNS after their owner was terminated. Delete them at the DNS provider, or publish them again and unpublish them once external-dns works.' },
]

/** Things are objects in conflict, removals that are held, and names that stayed behind. */
function Things() {
  const found = useQuery({
    queryKey: ['troubles'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => request<TroublePage>('GET', '/v2/troubles', { query: { limit: '200' }, signal }),
  })
  if (!found.data) return found.error ? <Fault error={found.error} /> : <Loading what="conflicts and leftovers" />
  const { items, counts } = found.data
  return (
    <>
      {things.map(({ kind, title, tone, means, advice }) => {
        const all = items.filter((t) => t.kind === kind)
        const total = counts[kind] ?? 0
        return (
          <Part key={kind} title={title} n={total} tone={tone} id={kind} means={means} advice={advice}>
            <ul class="plain">
              {all.slice(0, most).map((t, i) => (
                <li key={i}>
                  <Thing trouble={t} />
                </li>
              ))}
            </ul>
            {total > Math.min(all.length, most) && (
              <p class="muted">
                {plural(total - Math.min(all.length, most), 'more', 'more')}. <Copy curl={curl('GET', '/v2/troubles', undefined, settings.value.anonymous)} />
              </p>
            )}
          </Part>
        )
      })}
    </>
  )
}

function Thing({ trouble: t }: { trouble: Trouble }) {
  return (
    <>
      {t.object && (
        <b>
          <Text>{t.object}</Text>
        </b>
      )}{' '}
      {t.cluster && (
        <>
          on <ClusterLink cluster={t.cluster} />
        </>
      )}
      {t.name && (
        <b>
          <Text>{t.name}</Text> {t.type}
        </b>
      )}
      {t.names !== undefined && <b>{plural(t.names, 'name')}</b>} {t.provider && `by ${t.provider}`}{' '}
      {t.owner && (
        <>
          of <Subject path={t.owner} />
        </>
      )}{' '}
      {t.since && (
        <span class="muted">
          since <Time at={t.since} />
        </span>
      )}{' '}
      <Told>{t.message ?? ''}</Told>{' '}
      {t.kind === 'held' && kindOf(t.owner ?? '') === 'group' && (
        <a class="button" href={link(['plan'], { owner: t.owner, for: 'update' })}>
          Plan
        </a>
      )}
      {t.kind !== 'held' && t.cluster && <Copy cli={cli('preflight', t.cluster)} />}
    </>
  )
}

const latestEvents = {
  queryKey: ['events', 'trouble'],
  refetchInterval: 15_000,
  queryFn: ({ signal }: { signal: AbortSignal }) => request<{ items: Event[] }>('GET', '/v2/events', { query: { limit: '200' }, signal }),
}

/** groupsOf asks how the groups of a project do. */
const groupsOf = (project: string) => ({
  queryKey: ['groups', project, 'first'],
  refetchInterval: 15_000,
  retry: false,
  queryFn: ({ signal }: { signal: AbortSignal }) => request<GroupSummaryPage>('GET', apiPath(`projects/${project}/deployment-intent-groups`), { query: { limit: '200' }, signal }),
})

/** Leaving lists the names that a deploy would remove, of the groups that have changed lately. */
function Leaving() {
  const events = useQuery(latestEvents)
  const changed = changedGroups(events.data?.items ?? [])
  const projects = [...new Set(changed.map(projectOf))].slice(0, shown)
  const lists = useQueries({ queries: projects.map(groupsOf) })
  const waiting = lists.flatMap((list) => list.data?.items ?? []).filter((g) => g.undeployed > 0 && changed.includes(g.path)).slice(0, shown)
  const groups = waiting.map((g) => g.path)
  const plans = useQueries({ queries: waiting.map((g) => deployOf(g.path, g.undeployed)) })
  const found = groups.flatMap((group, n) => {
    const plan = plans[n]?.data
    return plan ? leaving(plan).map((host) => ({ group, host })) : []
  })
  return (
    <Part title="Removals that are not deployed yet" n={found.length} tone="wait" id="leaving" means="names that a deploy would remove, because their documents are gone" advice="A deploy of the group removes these names. If that is not meant, bring the documents back before somebody deploys. Only groups with changes in the last 200 events are looked at.">
      <ul class="plain">
        {found.slice(0, most).map(({ group, host }) => (
          <li key={group + host}>
            <a href={link(['names', host])}>{host}</a> by the next deploy of <Text>{ownerWord(group)}</Text>{' '}
            <a class="button" href={link(['plan'], { owner: group, for: 'update' })}>
              Plan
            </a>
          </li>
        ))}
      </ul>
    </Part>
  )
}

/** Refused lists what was refused or failed lately. */
function Refused() {
  const events = useQuery(latestEvents)
  if (!events.data) return events.error ? <Fault error={events.error} /> : <Loading what="events" />
  const failed = events.data.items.filter((e) => e.outcome === 'failed' || e.outcome === 'refused').slice(0, shown)
  return (
    <Part title="Refused and failed requests" n={failed.length} tone="wait" id="refused" means="requests that Signpost did not accept, or could not finish" advice="The latest of the last 200 events. Who asked knows the reason from the answer; it is repeated here.">
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
