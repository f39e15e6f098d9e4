import { useInfiniteQuery, useQueries, useQuery, type InfiniteData } from '@tanstack/react-query'
import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api, ask, request } from '../api/client'
import { useFailing } from '../api/fleet'
import { caller, may } from '../api/session'
import type { Event, EventPage, FleetItem, FoundNamePage, NameTurn } from '../api/types'
import { beginOf, byDay, drainedIn, drainsIn, fits, fitsMoveOf, folded, groupsIn, hostsOf, isWhole, joined, lostIn, meets, removals, rowsOf, spans, type Change, type Filter, type Found, type Span } from '../lib/changes'
import { cli, curl, kindOf } from '../lib/commands'
import { actionsOf, isCut, movesIn, recorded, undoers, type Move } from '../lib/moved'
import { go, link, route } from '../lib/route'
import { plural, visible } from '../lib/text'
import { clockOnly, exact } from '../lib/time'
import { clusterPath, done } from '../lib/words'
import { Badge, Copy, Empty, Fault, Loading, Text, useNow, type Tone } from '../ui/basics'
import { ClusterLink, NameLink, Subject, Told } from '../ui/subject'
import { TurnChanges } from '../ui/turn'
import { useTyped } from '../ui/typed'
import { MoveRow, recordOf } from './moverow'

const limit = '100'
const mostPages = 20 // that are read for a span; who wants more asks for them
const mostDrains = 2 // whose names are asked for
const mostProjects = 2 // whose groups are asked for their names at once
const mostAll = 200 // names
const mostMoves = 6 // failovers whose records are read at once
const mostHosts = 10 // whose addresses are read at once, and as many of the worst names

const tones: Record<string, Tone> = { completed: 'good', thawed: 'good', refused: 'bad', failed: 'bad', frozen: 'note' }

/** useEvents reads the latest events, and all since a time. It reads on while the user looks for something that they do not have. */
function useEvents(from: number | undefined, isFound: (all: Change[], moves: Move[]) => boolean) {
  const events = useInfiniteQuery({
    queryKey: ['events', 'latest'],
    initialPageParam: '',
    refetchInterval: (query: { state: { data: InfiniteData<EventPage> | undefined } }) => 10_000 * (query.state.data?.pages.length || 1), // a page each 10 s
    queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }): Promise<EventPage> => request<EventPage>('GET', '/v2/events', { query: { limit, continue: pageParam }, signal }),
    getNextPageParam: (last) => last.continue,
  })
  const pages = events.data?.pages ?? []
  const oldest = pages.at(-1)?.items.at(-1)?.time
  const whole = isWhole(from, oldest, events.hasNextPage)
  const items = pages.flatMap((p) => p.items)
  const [all, moves] = [joined(items), useMoves(items)]
  const more = pages.length > 0 && !whole && (from !== undefined || !isFound(all, moves)) && pages.length < mostPages && !events.isFetchNextPageError
  useEffect(() => {
    if (more && !events.isFetching) void events.fetchNextPage()
  }, [more, events.isFetching, pages.length])
  return { events, more, whole, oldest, all, moves }
}

/** useMoves are the failovers that events tell of. One whose request is on a later page is read itself, if the user may. */
function useMoves(items: Event[]): Move[] {
  const moves = movesIn(items)
  const cut = may(caller.value, 'viewer') ? moves.filter(isCut).slice(0, mostMoves) : []
  const records = useQueries({ queries: cut.map((move) => recordOf(move.id, true)) })
  return moves.map((move) => {
    const record = records[cut.indexOf(move)]?.data
    return record ? recorded(record, move) : move
  })
}

/** useHistories reads how host names have changed in DNS. */
function useHistories(hosts: string[]): Map<string, NameTurn[]> {
  const pages = useQueries({
    queries: hosts.map((host) => ({
      queryKey: ['history', host],
      staleTime: 5_000,
      refetchInterval: hosts.length > 2 * mostHosts ? 30_000 : 10_000, // it is written some seconds after a change
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => ask(api.GET('/v2/names/{host}/history', { params: { path: { host } }, signal })),
    })),
  })
  return new Map(hosts.map((host, n) => [host, pages[n]?.data?.items ?? []]))
}

/** useWorst reads the names that are wrong now: what happened to them has no request, perhaps. */
function useWorst(): string[] {
  const worst = useQuery({
    queryKey: ['worst names'],
    staleTime: 10_000,
    retry: false,
    queryFn: ({ signal }: { signal: AbortSignal }) => request<FoundNamePage>('GET', '/v2/names', { query: { sort: 'worst', limit: String(mostHosts) }, signal }),
  })
  return [...new Set((worst.data?.items ?? []).filter((n) => n.reason).map((n) => n.name))]
}

/** useOwnerHosts reads which host names groups of some projects give, and which ones take addresses from clusters. */
function useOwnerHosts(projects: string[], clusters: string[]): Map<string, string[]> {
  const read = (query: Record<string, string>) => ({
    queryKey: ['hosts of owners', query],
    staleTime: 30_000,
    retry: false,
    queryFn: ({ signal }: { signal: AbortSignal }) => request<FoundNamePage>('GET', '/v2/names', { query: { ...query, limit: '200' }, signal }),
  })
  const ofGroups = useQueries({ queries: projects.map((project) => read({ project })) })
  const ofClusters = useQueries({ queries: clusters.map((path) => read({ cluster: path.replace(/^cluster-providers\/([^/]+)\/clusters\//, '$1/') })) })
  const byOwner = new Map<string, string[]>()
  for (const { owner, name } of ofGroups.flatMap((p) => p.data?.items ?? [])) byOwner.set(owner, [...new Set([...(byOwner.get(owner) ?? []), name])])
  clusters.forEach((path, n) => byOwner.set(path, [...new Set((ofClusters[n]?.data?.items ?? []).map((i) => i.name))]))
  return byOwner
}

/** ChangesScreen lists the latest requests of all projects that the user may read, by day. */
export function ChangesScreen() {
  const q = route.value.query
  const chosen = q.get('of') ?? ''
  const span = chosen in spans ? (chosen as Span) : 'latest'
  const filter: Filter = { about: q.get('about') ?? '', actor: q.get('actor') ?? '', action: q.get('action') ?? '' }
  const now = useNow(60_000)
  const { from, until } = beginOf(span, new Date(now))
  const { events, more, whole, oldest, all, moves } = useEvents(from, (changes, moves) => changes.some((e) => fits(e, filter)) || moves.some(fitsMoveOf(moves, filter)))
  const isThen = (e: { time: string }) => Date.parse(e.time) >= (from ?? 0) && Date.parse(e.time) < (until ?? Infinity)
  const within = { changes: all.filter(isThen), moves: moves.filter(isThen) }
  const found = { changes: within.changes.filter((e) => fits(e, filter)), moves: within.moves.filter(fitsMoveOf(moves, filter)) }
  const failing = useFailing().data?.items ?? []
  const lost = lostIn(failing, filter).filter(isThen)
  const set = (change: Record<string, string>) => go(link(['changes'], { of: span === 'latest' ? '' : span, ...filter, ...change }), true)
  const since = from ?? (oldest ? Date.parse(oldest) : 0)
  const shows = (turn: NameTurn, host: string) => Date.parse(turn.time) >= since && Date.parse(turn.time) < (until ?? Infinity) && meets(turn, host, filter)
  const key = JSON.stringify([span, filter])
  const [every, setEvery] = useState('') // the filter with which the addresses of all names are shown
  const shown = useRows(events.data && !more ? found : none, { changes: all, moves }, shows, every === key)
  const rows = [...shown.rows, ...lost].sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
  const n = rows.length
  const count = ({ changes, moves }: Found, lost: unknown[]) => changes.length + moves.length + lost.length
  const narrowed = count(found, lost) < count(within, lostIn(failing, noFilter).filter(isThen))
  return (
    <>
      <div class="bar">
        <h1>Changes</h1>
        <span class="muted" role="status" aria-live="polite">
          {events.data && !more && n > 0 ? plural(rows.length, 'change') : ''}
        </span>
        <Copy curl={curl('GET', `/v2/events?limit=${limit}`)} cli={cli('events', '--limit', limit)} />
      </div>
      <Filters span={span} filter={filter} all={[...all, ...moves.flatMap((m) => actionsOf(m).map((action) => ({ actor: m.actor, action })))]} set={set} />
      {!events.data ? (
        events.error ? <Fault error={events.error} /> : <Loading what="the latest changes" />
      ) : more ? (
        <Loading what="earlier changes" />
      ) : n === 0 ? (
        <Empty title={narrowed ? `No change ${!whole && oldest ? `since ${exact(oldest)} ` : ''}fits.` : span === 'latest' ? 'Nothing has changed yet.' : 'Nothing has changed then.'} />
      ) : (
        <Days key={key} {...shown} rows={rows} found={found} about={filter.about} undone={undoers(moves)} now={new Date(now)} showEvery={() => setEvery(key)} />
      )}
      {events.isFetchNextPageError && <Fault error={events.error} />}
      {events.data && !more && (
        <p class="muted">
          {!whole && oldest ? `There are earlier changes than of ${exact(oldest)}. ` : span === 'latest' ? (narrowed ? 'No other request matches the filter. ' : 'There are no earlier changes. ') : narrowed ? 'No other request of that time matches the filter. ' : 'These are all requests of that time. '}
          Of names without a request in that time, only the {mostHosts} that are worst now are listed. The timelines of the others tell how their addresses changed.{' '}
          {!whole && (
            <button type="button" disabled={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
              Show earlier changes
            </button>
          )}
        </p>
      )}
    </>
  )
}

interface FiltersProps {
  span: Span
  filter: Filter
  all: { actor: string; action: string }[]
  set: (change: Record<string, string>) => void
}

/** Filters narrows the changes by time, name, author and action. */
function Filters({ span, filter, all, set }: FiltersProps) {
  const [typed, setTyped] = useTyped(filter.about, (about) => set({ about }))
  const actors = [...new Set([...all.map((e) => e.actor), filter.actor])].filter(Boolean).sort()
  const actions = [...new Set([...all.map((e) => e.action), filter.action])].filter(Boolean).sort()
  return (
    <form class="filters" role="search" aria-label="Changes" onSubmit={(e) => e.preventDefault()}>
      <label>
        <span>When</span>
        <select value={span} onChange={(e) => set({ of: e.currentTarget.value })}>
          {Object.entries(spans).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="grow">
        <span>Name, cluster, document or reason</span>
        <input type="search" value={typed} autocomplete="off" spellcheck={false} placeholder="any" onInput={(e) => setTyped(e.currentTarget.value)} />
      </label>
      <label>
        <span>By</span>
        <select value={filter.actor} onChange={(e) => set({ actor: e.currentTarget.value })}>
          <option value="">anybody</option>
          {actors.map((actor) => (
            <option key={actor} value={actor}>
              {visible(actor)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Action</span>
        <select value={filter.action} onChange={(e) => set({ action: e.currentTarget.value })}>
          <option value="">any</option>
          {actions.map((action) => (
            <option key={action}>{action}</option>
          ))}
        </select>
      </label>
    </form>
  )
}

const none: Found = { changes: [], moves: [] }
const noFilter: Filter = { about: '', actor: '', action: '' }

/** useRows are the rows of changes, and of the first names, or of every one, how their addresses changed. */
function useRows(shown: Found, all: Found, within: (turn: NameTurn, host: string) => boolean, every: boolean) {
  const found = folded(shown, all)
  const byOwner = useOwnerHosts(groupsIn(found.changes, mostProjects), drainsIn(found.changes, mostDrains))
  const hosts = [...new Set(found.changes.flatMap((e) => hostsOf(e, byOwner)))]
  const asked = hosts.slice(0, every ? mostAll : mostHosts)
  const rows = rowsOf(found, all, byOwner, useHistories([...new Set([...asked, ...useWorst()])]), within)
  const unread = (change: Change) => hostsOf(change, byOwner).filter((host) => !asked.includes(host)).length
  return { rows, hosts: hosts.length, asked: asked.length, unread }
}

interface DaysProps extends ReturnType<typeof useRows> {
  found: Found
  about: string // what the user looks for
  undone: Map<string, string>
  now: Date
  showEvery: () => void
}

/** Days shows changes by day. */
function Days({ rows, hosts, asked, unread, found, about, undone, now, showEvery }: DaysProps) {
  return (
    <>
      {asked < hosts && (
        <p class="notice">
          Only the addresses of {asked} of these {plural(hosts, 'name')} are shown.{' '}
          {asked < mostAll ? (
            <button type="button" onClick={showEvery}>
              Show those of {hosts > mostAll ? mostAll : `all ${hosts}`}
            </button>
          ) : (
            'The timelines of the others tell how theirs changed.'
          )}
        </p>
      )}
      {byDay(rows, now).map(({ day, events }) => (
        <Fragment key={day}>
          <h2>{day}</h2>
          <ul class="card log">
            {events.map(({ time, change, move, followers, turns, lost }, i) => (
              <li key={time + i}>
                <time dateTime={time} class="muted" title={exact(time)}>
                  {clockOnly(time)}
                </time>
                {lost ? <Lost item={lost} /> : move ? <MoveRow key={move.id} move={move} followers={followers ?? []} undoneBy={undone.get(move.id)} first={found.moves.indexOf(move) < mostMoves} about={about} /> : change ? <Request change={change} turns={turns} unread={unread(change)} /> : turns.map(({ host, turn }) => <Unasked key={host} host={host} turn={turn} />)}
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
    </>
  )
}

/** Lost is a cluster that cannot be reached. */
function Lost({ item }: { item: FleetItem }) {
  return (
    <div>
      <span class="strong">
        Cluster <ClusterLink cluster={item.cluster} />
      </span>{' '}
      cannot be reached since then: <Told>{item.message ?? 'it does not answer'}</Told>
    </div>
  )
}

/** turned says what has become of a name. */
function turned({ cause, changes }: NameTurn): string {
  if (cause.reason === 'Answers') return 'is answered otherwise'
  if (changes.length === 0) return 'keeps its addresses'
  const [come, go] = [changes.some((c) => c.added?.length), changes.some((c) => c.removed?.length)]
  return come && go ? 'has other addresses' : come ? 'gets addresses' : 'loses addresses'
}

/** Unasked is a change of a name that no request of the list has caused. */
function Unasked({ host, turn }: { host: string; turn: NameTurn }) {
  return (
    <div>
      <span class="strong">
        <NameLink name={host} />
      </span>{' '}
      {turned(turn)}
      {turn.cause.message && ': '}
      <Told>{turn.cause.message}</Told>
      {turn.cause.cluster && !turn.cause.message.includes(clusterPath(turn.cause.cluster)) && (
        <>
          {' '}
          (<ClusterLink cluster={turn.cause.cluster} />)
        </>
      )}
      <TurnChanges turn={turn} />
    </div>
  )
}

/** Request is a request, and what it did to names; the addresses of unread further ones are not read. */
function Request({ change: e, turns, unread }: { change: Change; turns: { host: string; turn: NameTurn }[]; unread: number }) {
  const isName = kindOf(e.path ?? '') === 'name'
  const cluster = drainedIn(e)
  const isDrain = kindOf(e.path ?? '') === 'cluster' && ['drain', 'undrain'].includes(e.action) && e.outcome === 'completed'
  return (
    <div>
      <span class="strong">
        {(isDrain || cluster) && 'Cluster '}
        {cluster ? <ClusterLink cluster={cluster} /> : <Subject path={e.path ?? ''} />}
      </span>{' '}
      {!removals[e.outcome] && (
        <>
          {done(e.action, isName, e.outcome)} by <Text>{e.actor}</Text>{' '}
        </>
      )}
      <Badge tone={tones[e.outcome] ?? 'plain'}>{removals[e.outcome] ?? e.outcome}</Badge>{' '}
      {e.revision > 0 && !removals[e.outcome] && e.outcome !== 'stored' && e.outcome !== 'deleted' && <span class="muted">release {e.revision}</span>}{' '}
      {cluster && (
        <span class="muted">
          of <Subject path={e.path ?? ''} />{' '}
        </span>
      )}
      <span class="small">
        {isDrain && e.message && 'Reason: '}
        <Told>{e.message}</Told>
      </span>
      {turns.map(({ host, turn }) => (
        <div key={host}>
          {!isName && <NameLink name={host} />}
          <TurnChanges turn={turn} />
        </div>
      ))}
      {unread > 0 && !isName && <div class="muted small">The addresses of {plural(unread, 'more name')} are not shown here.</div>}
    </div>
  )
}
