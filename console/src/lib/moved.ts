import type { Event } from '../api/types'
import { clusterPath } from './words'
import { kindOf, ownerWord } from './commands'
import type { Failover, Moved } from './failover'

/** Move is a failover as events tell of it. Who may not read events of clusters knows of its names alone. */
export interface Move {
  id: string
  time: string // when it was accepted; else when the first name that is known was answered
  actor: string
  drained: string[]
  undrained: string[]
  reason: string
  revertOf: string // id of the failover that it undoes; empty for none
  state: string // at its end; empty until then, and if that is not known
  message: string // at its end
  hosts: string[] // that were seen to be answered
  owners: string[] // of these
}

/** failoverIn takes the id of a failover out of the message of an event. */
export function failoverIn(message: string): { id: string; rest: string } | undefined {
  const found = /^failover ([0-9a-z-]+)(?:: (.*))?$/s.exec(message)
  return found ? { id: found[1] ?? '', rest: found[2] ?? '' } : undefined
}

const oneMore = (list: string[], item: string) => (list.includes(item) ? list : [...list, item])

/** movesIn are the failovers that events tell of, the newest first. */
export function movesIn(events: Event[]): Move[] {
  const found = new Map<string, Move>()
  for (const e of events) {
    const of = failoverIn(e.message)
    const path = e.path ?? ''
    if (!of || !['drain', 'undrain'].includes(e.action)) continue
    const move = found.get(of.id) ?? { id: of.id, time: '', actor: e.actor, drained: [], undrained: [], reason: '', revertOf: '', state: '', message: '', hosts: [], owners: [] }
    found.set(of.id, move)
    if (kindOf(path) !== 'cluster') {
      move.hosts = oneMore(move.hosts, /targets of (\S+) [A-Z]+[; ]/.exec(of.rest)?.[1] ?? '').filter(Boolean)
      move.owners = oneMore(move.owners, path)
    } else if (e.outcome === 'accepted') {
      const cluster = path.replace(/^cluster-providers\/([^/]+)\/clusters\//, '$1/')
      if (e.action === 'drain') move.drained = oneMore(move.drained, cluster)
      else move.undrained = oneMore(move.undrained, cluster)
      move.time = e.time
      move.actor = e.actor
      move.revertOf = /^reverts ([0-9a-z-]+)$/.exec(of.rest)?.[1] ?? ''
      move.reason = move.revertOf ? '' : of.rest
    } else {
      move.state = /^([A-Z][a-z]+),/.exec(of.rest)?.[1] ?? ''
      move.message = of.rest
    }
    if (isCut(move)) move.time = e.time // the events come newest first
  }
  return [...found.values()]
}

/** isCut tells whether events do not have the request of a failover. */
export const isCut = (m: Pick<Move, 'drained' | 'undrained'>) => m.drained.length + m.undrained.length === 0

/** recorded is a failover by its record, with the names that events tell of. */
export const recorded = ({ id, time, actor, drained, undrained, reason = '', revertOf = '', state, message = '' }: Failover, { hosts, owners }: Pick<Move, 'hosts' | 'owners'>): Move => ({ id, time, actor, drained: drained.map(clusterPath), undrained: undrained.map(clusterPath), reason, revertOf, state, message, hosts, owners })

/** isPart tells whether an event is of a failover, which has a row of its own. */
export const isPart = (e: Pick<Event, 'action' | 'message'>) => ['drain', 'undrain'].includes(e.action) && failoverIn(e.message) !== undefined

/** undoers are the failovers that undo others, by the id of the undone one. */
export const undoers = (moves: Move[]) => new Map(moves.filter((m) => m.revertOf).map((m) => [m.revertOf, m.id]))

/** caused tells whether a change of a host name was asked for by a failover. */
export const caused = (m: Move, cause: { action?: string; cluster?: string; asked?: string }) =>
  cause.asked !== undefined && Date.parse(cause.asked) === Date.parse(m.time) && (cause.action === 'drain' ? m.drained : cause.action === 'undrain' ? m.undrained : []).includes(clusterPath(cause.cluster ?? ''))

/** actionsOf are the actions by which a failover can be looked for. */
export const actionsOf = (m: Move) => ['failover', m.drained.length > 0 ? 'drain' : '', m.undrained.length > 0 ? 'undrain' : ''].filter(Boolean)

/** fitsMove tells whether a failover is one that a user looks for. The names of its record count, too. */
export function fitsMove(m: Move, { about, actor, action }: { about: string; actor: string; action: string }, names: Pick<Moved, 'name'>[] = []): boolean {
  const text = about.trim().toLowerCase()
  const words = [m.id, m.reason, ...m.drained, ...m.undrained, ...m.hosts, ...m.owners.map(ownerWord), ...names.map((n) => n.name)]
  return (!text || words.some((w) => w.toLowerCase().includes(text))) && (!actor || m.actor === actor) && (!action || actionsOf(m).includes(action))
}

/** Turned is what a failover has changed of a name and type. */
export interface Turned {
  name: string
  type: string
  owner: string
  removed: string[]
  added: string[]
}

/** turnedOf are the names that a failover has moved, with the targets that went and came. */
export const turnedOf = (names: Failover['names']): Turned[] =>
  names
    .filter((n) => !n.stays)
    .map((n) => ({ name: n.name, type: n.type, owner: n.owner, removed: n.before.filter((t) => !n.after.includes(t)), added: n.after.filter((t) => !n.before.includes(t)) }))
