import type { DNSName, Event, FleetItem, NameTurn } from '../api/types'
import { kindOf, ownerWord, projectOf } from './commands'
import { isPart as isOfMove, caused, fitsMove, type Move } from './moved'
import { clusterPath } from './words'

/** Change is an event, with the end of its request. */
export type Change = Omit<Event, 'outcome'> & { outcome: string }

const ends = ['completed', 'failed']

// A drain of one cluster is over at once.
const atOnce = (e: Event) => ['drain', 'undrain'].includes(e.action)

/** joined puts the end of a request, and what became of a name's document, in the place of its acceptance; the newest first. Failovers have rows of their own. */
export function joined(events: Event[]): Change[] {
  const accepted = new Set(events.flatMap((e) => (e.outcome === 'accepted' && e.requestID ? [e.requestID] : [])))
  const isPart = (e: Event) => ['stored', 'deleted'].includes(e.outcome) && kindOf(e.path ?? '') === 'name' && accepted.has(e.requestID ?? '')
  const written = new Map(events.filter(isPart).map((e) => [e.requestID ?? '', e.message]))
  const ended = new Map<string, Event>()
  return events.flatMap((e) => {
    const key = `${e.path ?? ''} ${e.action} ${e.revision}`
    if (isPart(e) || isOfMove(e)) return []
    if (!atOnce(e) && ends.includes(e.outcome)) {
      ended.set(key, e)
      return []
    }
    const end = e.outcome === 'accepted' ? ended.get(key) : undefined
    ended.delete(key)
    return [{ ...e, outcome: end?.outcome ?? e.outcome, message: end?.message || (e.message.startsWith('changes ') ? e.message : [e.message, written.get(e.requestID ?? '')].filter(Boolean).join(': ')) }]
  })
}

const secret = '***' // which events have in place of what looks like a secret

/** documentAt is the whole document of a name as its release had it, by the events of its project. */
export function documentAt(events: Event[], path: string, release: number): DNSName | undefined {
  const request = events.find((e) => e.path === path && e.outcome === 'accepted' && e.action !== 'terminate' && e.revision === release)?.requestID
  const written = events.find((e) => e.path === path && e.outcome === 'stored' && e.requestID === request && request !== undefined)
  return JSON.stringify(written?.after ?? '').includes(secret) ? undefined : (written?.after as DNSName | undefined)
}

/** spans are the times of which changes are shown. */
export const spans = { latest: 'the latest', hour: 'the last hour', today: 'today', yesterday: 'yesterday', week: 'the last 7 days' } as const
export type Span = keyof typeof spans

const midnight = (now: Date, daysBefore: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore).getTime()

/** beginOf is from and until when a span is, in milliseconds. The days are those of the user's own zone. */
export function beginOf(span: Span, now: Date): { from?: number; until?: number } {
  if (span === 'hour') return { from: now.getTime() - 3600_000 }
  if (span === 'today') return { from: midnight(now, 0) }
  if (span === 'yesterday') return { from: midnight(now, 1), until: midnight(now, 0) }
  return span === 'week' ? { from: midnight(now, 6) } : {}
}

/** isWhole tells whether the events that were read reach back to a time; more says whether there are earlier ones. */
export const isWhole = (from: number | undefined, oldest: string | undefined, more: boolean) => !more || (from !== undefined && oldest !== undefined && Date.parse(oldest) < from)

/** dayOf names a day. */
function dayOf(time: string, now: Date): string {
  const at = Date.parse(time)
  if (at >= midnight(now, 0)) return 'Today'
  if (at >= midnight(now, 1)) return 'Yesterday'
  return new Date(at).toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
}

/** byDay puts changes of one day together; they are ordered by time. */
export function byDay<E extends { time: string }>(events: E[], now: Date): { day: string; events: E[] }[] {
  const days: { day: string; events: E[] }[] = []
  for (const event of events) {
    const day = dayOf(event.time, now)
    const last = days.at(-1)
    if (last?.day === day) last.events.push(event)
    else days.push({ day, events: [event] })
  }
  return days
}

/** Filter narrows changes; an empty field lets everything through. */
export interface Filter {
  about: string // a part of a name, cluster, document, reason or message
  actor: string
  action: string
}

/** fits tells whether a change is one that a user looks for. */
export function fits(e: Change, { about, actor, action }: Filter): boolean {
  const path = e.path ?? ''
  const text = about.trim().toLowerCase()
  const words = [path, ownerWord(path), path.replace(/^cluster-providers\/([^/]+)\/clusters\//, '$1/'), drainedIn(e), e.message]
  return (!text || words.some((w) => w.toLowerCase().includes(text))) && (!actor || e.actor === actor) && (!action || e.action === action)
}

/** fitsMoveOf tells of a failover whether it is one that a user looks for. An undo is found by the reason of the failover that it undoes, too. */
export const fitsMoveOf = (all: Move[], filter: Filter) => (move: Move) => fitsMove({ ...move, reason: move.reason || (all.find((m) => m.id === move.revertOf)?.reason ?? '') }, filter)

/** hostsOf are the host names that a change is about: that of a name, or those that a group or a cluster has by the list of names. */
export function hostsOf({ path = '' }: Pick<Change, 'path'>, byOwner: Map<string, string[]>): string[] {
  return kindOf(path) === 'name' ? [path.split('/')[3] ?? ''] : (byOwner.get(path) ?? [])
}

/** groupsIn are the projects of the groups among changes, at most so many. */
export const groupsIn = (changes: Change[], most: number) => [...new Set(changes.filter((e) => kindOf(e.path ?? '') === 'group').map((e) => projectOf(e.path ?? '')))].slice(0, most)

/** drainsIn are the clusters that were drained or undrained one by one, at most so many, as paths of documents. */
export const drainsIn = (changes: Change[], most: number) => [...new Set(changes.filter((e) => kindOf(e.path ?? '') === 'cluster' && ['drain', 'undrain'].includes(e.action)).map((e) => e.path ?? ''))].slice(0, most)

/** drainedIn is the cluster whose drain an event of a name or group tells of, as provider/cluster; empty for others. */
export const drainedIn = ({ action, path = '', message }: Pick<Change, 'action' | 'path' | 'message'>) =>
  ['drain', 'undrain'].includes(action) && kindOf(path) !== 'cluster' ? clusterPath(/^(\S+) is drained (?:since|no longer)/.exec(message)?.[1] ?? '') : ''

const ofDrain = (e: Change, { action, cluster = '', asked }: NameTurn['cause']) =>
  action === e.action && asked !== undefined && Date.parse(asked) === Date.parse(e.time) && e.path === `cluster-providers/${clusterPath(cluster).replace('/', '/clusters/')}`

/** removals are outcomes that nobody asked for: names stay that would have gone, or no longer do. */
export const removals: Record<string, string> = { frozen: 'removal held', thawed: 'removal no longer held' }

/** turnOf is what a change has done to a host name in DNS, by the history of the name. */
export const turnOf = (e: Change, turns: NameTurn[]) => removals[e.outcome] ? undefined : kindOf(e.path ?? '') === 'cluster' ? turns.find((t) => ofDrain(e, t.cause)) : turns.find((t) => (e.requestID !== undefined && t.cause.requestID === e.requestID) || (t.owner === e.path && t.cause.action === e.action && t.cause.release === e.revision && e.revision > 0))

/** Row is a request, with what it did to host names, or a failover, or a change of a host name that nobody asked for. */
export interface Row {
  time: string
  change?: Change
  move?: Move
  followers?: string[] // the groups and names that the failover drained or undrained
  turns: { host: string; turn: NameTurn }[]
  lost?: FleetItem // a cluster that cannot be reached since then
}

/** lostIn are the clusters that cannot be reached, of those that a user looks for; the loss has no author. */
export function lostIn(items: FleetItem[], { about, actor, action }: Filter): (Row & { lost: FleetItem })[] {
  if (actor || action) return []
  const text = about.trim().toLowerCase()
  return items.flatMap((lost) => (lost.kind === 'cluster' && lost.unreachableSince && [lost.cluster, lost.message ?? ''].some((w) => w.toLowerCase().includes(text)) ? [{ time: lost.unreachableSince, lost, turns: [] }] : []))
}

const told = ['Release', 'Takeover', 'Held'] // which have an event

/** Found are the requests and failovers that are shown, and which groups and names followed a failover, by its id. */
export interface Found {
  changes: Change[]
  moves: Move[]
  followers?: Map<string, string[]>
}

const skew = 10_000 // milliseconds by which the clocks of two servers may differ

/** moveOf is the failover that a group or name followed, by the id in the event; in an older event, that of the time since when its cluster is drained, or the latest that undrained it. A follower that failed keeps a row of its own. */
function moveOf(e: Change, { changes, moves }: Found): Move | undefined {
  const cluster = drainedIn(e)
  if (!cluster || !['accepted', 'completed'].includes(e.outcome)) return undefined
  const id = /^\S+ is drained (?:since \S+: public names have none of its addresses|no longer: public names may have its addresses again); failover ([0-9a-z-]+)$/.exec(e.message)?.[1]
  if (id) return moves.find((m) => m.id === id)
  const since = / is drained since (\S+):/.exec(e.message)?.[1] // in whole seconds
  const led = ({ time }: { time: string }) => (since ? Math.floor(Date.parse(time) / 1000) * 1000 === Date.parse(since) : Date.parse(time) <= Date.parse(e.time) + skew)
  const one = changes.filter((c) => c.path === `cluster-providers/${cluster.replace('/', '/clusters/')}` && c.action === e.action && led(c))
  const some = moves.filter((m) => (e.action === 'drain' ? m.drained : m.undrained).includes(cluster) && led(m))
  const last = Math.max(...[...one, ...some].map(({ time }) => Date.parse(time)))
  return one.some(({ time }) => Date.parse(time) === last) ? undefined : some.find(({ time }) => Date.parse(time) === last)
}

/** folded takes the groups and names that followed a failover out of the changes, if that is shown. all has also the requests and failovers that are not. */
export function folded(found: Found, all: Found): Found {
  const followed = new Map(all.changes.map((e) => [e, moveOf(e, all)]))
  const followersOf = (move: Move) => [...new Set(all.changes.flatMap((e) => (followed.get(e)?.id === move.id && e.path ? [e.path] : [])))]
  return { ...found, changes: found.changes.filter((e) => !found.moves.some((m) => m.id === followed.get(e)?.id)), followers: new Map(found.moves.map((m) => [m.id, followersOf(m)])) }
}

/** rowsOf puts the changes of host names in DNS beside the requests that caused them, and others in between. within tells which times are shown; all is as in folded. */
export function rowsOf(found: Found, all: Found, byOwner: Map<string, string[]>, histories: Map<string, NameTurn[]>, within: (turn: NameTurn, host: string) => boolean): Row[] {
  const turnsOf = (e: Change) =>
    hostsOf(e, byOwner).flatMap((host) => {
      const turn = turnOf(e, histories.get(host) ?? [])
      return turn ? [{ host, turn }] : []
    })
  const shown = new Set(all.changes.flatMap(turnsOf).map(({ turn }) => turn))
  const others = [...histories].flatMap(([host, turns]) => turns.filter((turn) => !shown.has(turn) && !all.moves.some((m) => caused(m, turn.cause)) && !told.includes(turn.cause.reason) && within(turn, host)).map((turn) => ({ time: turn.time, turns: [{ host, turn }] })))
  const moves = found.moves.map((move) => ({ time: move.time, move, followers: found.followers?.get(move.id) ?? [], turns: [] }))
  return [...found.changes.map((change) => ({ time: change.time, change, turns: turnsOf(change) })), ...moves, ...others].sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
}

/** meets tells whether a change of a host name is one that a user looks for. */
export const meets = (turn: NameTurn, host: string, { about, actor, action }: Filter) => [host, clusterPath(turn.cause.cluster ?? ''), turn.cause.message].some((w) => w.toLowerCase().includes(about.trim().toLowerCase())) && (!actor || turn.cause.actor === actor) && (!action || turn.cause.action === action)
