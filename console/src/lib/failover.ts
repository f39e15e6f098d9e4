import type { components } from '../api/schema.gen'
import { cli } from './commands'
import { pairs, plural } from './text'
import { clusterPath } from './words'

type S = components['schemas']
export type Spec = S['FailoverSpec']
type Selection = S['ClusterSelection']
/** Moved is a name that moves; in a record, also how far it is. */
export type Moved = S['MovedName'] & Partial<Pick<S['FailoverName'], 'published' | 'answered' | 'cachesUntil' | 'message'>>
export type Preview = S['FailoverPreview']
export type Failover = S['FailoverRecord']
type Refused = S['FailoverRefusal']

/** Choice is what a user has chosen at the desk. */
export interface Choice {
  clusters: string[]
  labels: string
  verb: 'drain' | 'undrain'
  to: string[] // of a drain: clusters that are undrained in the same step
  toLabels: string
  reason: string
  seen: boolean // whether the user had the preview of it
}

export const emptyChoice: Choice = { clusters: [], labels: '', verb: 'drain', to: [], toLabels: '', reason: '', seen: false }

const labelsIn = (text: string) => pairs(text.split(/[\s,]+/).filter((word) => /^[^=]+=.+/.test(word)))

/** selectionOf are clusters, and labels in a text; undefined if there is neither. */
function selectionOf(clusters: string[], text: string): Selection | undefined {
  const labels = labelsIn(text)
  const is = { ...(clusters.length > 0 ? { clusters } : {}), ...(Object.keys(labels).length > 0 ? { labels } : {}) }
  return Object.keys(is).length > 0 ? is : undefined
}

/** wordsOf is a selection as the command line writes it. */
const wordsOf = ({ clusters = [], labels = {} }: Selection) => [...clusters, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)]

/** commandOf is a failover as a command; with preview it changes nothing. */
export function commandOf({ drain, undrain, reason }: Spec, preview: boolean): string {
  const tail = [reason && '--reason', reason, preview && '--preview']
  if (!drain) return cli('undrain', ...wordsOf(undrain ?? {}), ...tail)
  return cli('failover', ...wordsOf(drain), ...(undrain ? ['--to', wordsOf(undrain).join(',')] : []), ...tail)
}

/** chosenOf are the clusters that are ticked or have all of the labels, of those that are known. */
export function chosenOf(clusters: string[], text: string, known: { path: string; labels: Record<string, string> }[]): string[] {
  const labels = Object.entries(labelsIn(text))
  const fits = known.filter((c) => labels.length > 0 && labels.every(([key, value]) => c.labels[key] === value)).map((c) => c.path)
  return [...new Set([...clusters, ...fits])].sort()
}

/** specOf is the request that a choice makes; undefined while nothing is chosen. */
export function specOf(choice: Choice): Spec | undefined {
  const selection = selectionOf(choice.clusters, choice.labels)
  if (!selection) return undefined
  const to = choice.verb === 'drain' ? selectionOf(choice.to, choice.toLabels) : undefined
  return { [choice.verb]: selection, ...(to ? { undrain: to } : {}), ...(choice.reason.trim() ? { reason: choice.reason.trim() } : {}) }
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
  if (given) return { ...emptyChoice, verb, clusters: [clusterPath(given)], seen: true }
  try {
    return { ...emptyChoice, ...(JSON.parse(sessionStorage.getItem(kept) ?? '{}') as Partial<Choice>) }
  } catch {
    return emptyChoice
  }
}

/** lostOf says which clusters that serve a name afterwards cannot be reached, and since when. */
export const lostOf = (m: Pick<Moved, 'clustersAfter'>, unreachable: Preview['unreachable']) => (unreachable ?? []).filter((lost) => m.clustersAfter.includes(lost.cluster))

type Counted = Pick<Failover, 'hosts' | 'revertedBy' | 'state'>

/** changing is how many names a failover moves or leaves without an address. */
export const changing = ({ hosts }: Pick<Preview, 'hosts'>) => hosts.moved + hosts.none

/** answered says how many of the names that have an address afterwards are answered; empty if there are none. */
export function answered({ hosts: { moved, none, answered: n }, revertedBy }: Counted): string {
  if (moved === 0) return ''
  const verb = revertedBy ? ['was', 'were'] : ['is', 'are']
  const keep = none > 0 ? ` with an address` : ''
  return `${n.toLocaleString('en')} of ${plural(moved, 'name')}${keep} ${verb[moved === 1 ? 0 : 1]} answered`
}

/** leftWord says how many names a failover has left without an address, and how many it is about to; empty for none. */
export function leftWord({ hosts: { none, gone }, revertedBy, state }: Counted): string {
  const say = (n: number, one: string, many: string) => `${plural(n, 'name')} ${n === 1 ? one : many}`
  const words = [
    gone > 0 && (revertedBy ? `${say(gone, 'had', 'had')} no address.` : `${say(gone, 'has', 'have')} no address since.`),
    none > gone && state === 'Moving' && say(none - gone, 'loses its last address.', 'lose their last address.'),
  ]
  return words.filter(Boolean).join(' ')
}

/** progress is how far the names of a failover are that change, from 0 to 1. */
export const progress = (r: Counted) => (changing(r) === 0 ? 1 : (r.hosts.answered + r.hosts.gone) / changing(r))

/** danger says what a name is left with; empty for none. */
export const danger = (m: Pick<Moved, 'left'>) => (m.left === 'none' ? 'no address is left' : m.left === 'one' ? 'one address is left' : m.left === 'unhealthy' ? 'only unhealthy or unreachable clusters are left' : '')

/** rulesOf are the safety rules that an administrator would have to override, if nothing is in the way that nobody may allow. */
export function rulesOf(refusals: Preview['refusals']): string[] {
  return refusals.every((r) => r.rule || r.force) ? [...new Set(refusals.flatMap((r) => r.rule ?? []))].sort() : []
}

/** isForced tells whether force alone allows what is refused. */
export const isForced = (refusals: Preview['refusals']) => refusals.length > 0 && refusals.every((r) => r.force)

/** pathsOf lists clusters as people write them. */
export const pathsOf = (clusters: string[]) => clusters.map(clusterPath).sort().join(', ')

/** titleOf says what a failover was, in a heading. */
export function titleOf(r: Pick<Failover, 'drained' | 'undrained' | 'revertOf'>): string {
  const drained = pathsOf(r.drained)
  const undrained = pathsOf(r.undrained)
  const what = drained && undrained ? `Failover of ${drained} to ${undrained}` : drained ? `Failover of ${drained}` : `Undrain of ${undrained}`
  return r.revertOf ? `Undo: ${what[0]?.toLowerCase()}${what.slice(1)}` : what
}

/** movesWord says how many names change, and how many of them have no address afterwards. */
export function movesWord({ hosts: { moved, none } }: Pick<Preview, 'hosts'>): string {
  const lose = none === 1 ? 'loses its last address' : 'lose their last address'
  if (moved === 0) return none > 0 ? `${plural(none, 'name')} ${lose}` : 'no name changes'
  return plural(moved + none, 'name changes', 'names change') + (none > 0 ? `, ${none.toLocaleString('en')} of them ${lose}` : '')
}

/** Drain is the latest drain of the clusters of a name, all of which are drained now. */
export type Drain = S['Drained'] & { one: boolean } // one: it drained all of them

/** drainOf is the latest drain that took a name out; undefined unless all clusters of the name are drained now, by their documents. */
export function drainOf(known: { path: string; document: Pick<S['Cluster'], 'status'> }[], clusters: string[]): Drain | undefined {
  const drains = clusters.flatMap((cluster) => known.find((k) => k.path === clusterPath(cluster))?.document.status?.drained ?? [])
  const latest = [...drains].sort((a, b) => Date.parse(b.since) - Date.parse(a.since))[0]
  if (!latest || drains.length < clusters.length) return undefined
  return { ...latest, one: drains.length === 1 || (latest.failover !== undefined && drains.every((d) => d.failover === latest.failover)) }
}

/** allowOf says how a user may do what is refused, by what the preview offers: a button that leaves rules out, or a box that forces the move. */
export function allowOf({ rule, force, allow }: Refused, offers: { button: boolean; box: boolean }): string {
  const role = /^the role \w+/.exec(allow)?.[0]
  if (role && rule) return offers.button ? `preview without the rule, by the button below; it needs ${role}` : `leave the rule out; it needs ${role}, and that nothing else forbids the move`
  if (role && force) return offers.box ? `tick the box below; it needs ${role}` : `force it once nothing else forbids the move; it needs ${role}`
  return allow
}

/** keptWord says how many names lose a cluster and are answered as before; empty for none. */
export function keptWord(counts: object): string {
  const kept = 'kept' in counts ? Number(counts.kept) : 0 // not every server counts them
  if (kept === 0) return ''
  return `${plural(kept, 'name loses', 'names lose')} a cluster and ${kept === 1 ? 'keeps its answer; it is' : 'keep their answers; they are'} not listed.`
}
