import type { components } from '../api/schema.gen'
import { pairs, plural } from './text'
import { clusterPath } from './words'

type S = components['schemas']
export type Spec = S['FailoverSpec']
type Selection = S['ClusterSelection']
/** Moved is a name that moves; in a record, also how far it is. */
export type Moved = S['MovedName'] & Partial<Pick<S['FailoverName'], 'published' | 'answered' | 'cachesUntil' | 'message'>>
export type Preview = S['FailoverPreview']
export type Failover = S['FailoverRecord']

/** Choice is what a user has chosen at the desk. */
export interface Choice {
  clusters: string[]
  labels: string
  verb: 'drain' | 'undrain'
  reason: string
}

/** specOf is the request that a choice makes; undefined while nothing is chosen. */
export function specOf(choice: Choice): Spec | undefined {
  const labels = pairs(choice.labels.split(/[\s,]+/).filter((word) => word.includes('=')))
  const selection: Selection = { ...(choice.clusters.length > 0 ? { clusters: choice.clusters } : {}), ...(Object.keys(labels).length > 0 ? { labels } : {}) }
  if (Object.keys(selection).length === 0) return undefined
  return { [choice.verb]: selection, ...(choice.reason.trim() ? { reason: choice.reason.trim() } : {}) }
}

/** labelsOf are the labels of clusters, as key=value. */
export const labelsOf = (clusters: { labels?: Record<string, string> }[]) => [...new Set(clusters.flatMap((c) => Object.entries(c.labels ?? {}).map(([key, value]) => `${key}=${value}`)))].sort()

const kept = 'signpost.desk'

/** keepDesk keeps what was chosen at the desk for as long as the tab lives. */
export const keepDesk = (choice: Choice) => sessionStorage.setItem(kept, JSON.stringify(choice))

/** deskOf is what was chosen before the user left the desk; a link to it names a cluster. */
export function deskOf(query: URLSearchParams): Choice {
  const verb = query.get('undrain') ? 'undrain' : 'drain'
  const given = query.get(verb)
  const empty: Choice = { clusters: [], labels: '', verb, reason: '' }
  if (given) return { ...empty, clusters: [clusterPath(given)] }
  try {
    return { ...empty, ...(JSON.parse(sessionStorage.getItem(kept) ?? '{}') as Partial<Choice>) }
  } catch {
    return empty
  }
}

/** lostOf says which clusters that serve a name afterwards cannot be reached, and since when. */
export const lostOf = (m: Pick<Moved, 'clustersAfter'>, unreachable: Preview['unreachable']) => (unreachable ?? []).filter((lost) => m.clustersAfter.includes(lost.cluster))

/** namesOf counts the names of rows that move, each once whatever its types are. */
export const namesOf = (rows: Moved[], left?: Moved['left']) => new Set(rows.filter((m) => !m.stays && (left === undefined || m.left === left)).map((m) => m.name)).size

/** answered says how many names of a failover are answered; records, if a name has several types. */
export function answered(r: Pick<Failover, 'answered' | 'counts' | 'names'>): string {
  const n = r.counts.names
  return `${r.answered} of ${plural(n, namesOf(r.names) === n ? 'name' : 'record')} ${n === 1 ? 'is' : 'are'} answered`
}

/** progress is how much of a failover is answered, from 0 to 1. */
export const progress = (r: Pick<Failover, 'answered' | 'counts'>) => (r.counts.names === 0 ? 1 : Math.min(1, r.answered / r.counts.names))

/** danger says what a name is left with; empty for none. */
export const danger = (m: Pick<Moved, 'left'>) => (m.left === 'none' ? 'no address is left' : m.left === 'one' ? 'one address is left' : m.left === 'unhealthy' ? 'only unhealthy or unreachable clusters are left' : '')

/** rulesOf are the safety rules that an administrator would have to override, if nothing is in the way that nobody may allow. */
export function rulesOf(refusals: Preview['refusals']): string[] {
  return refusals.every((r) => r.rule || r.force) ? [...new Set(refusals.flatMap((r) => r.rule ?? []))].sort() : []
}

/** isForced tells whether force alone allows what is refused. */
export const isForced = (refusals: Preview['refusals']) => refusals.length > 0 && refusals.every((r) => r.force)
