import { builtIn } from './chain'
import type { FleetItem } from '../api/types'

export interface Row {
  cluster: string
  item: FleetItem
  publishers: FleetItem[] // the external-dns that run there
}

/** Grid is the clusters with their external-dns, and what the built-in publisher publishes. */
export interface Grid {
  rows: Row[]
  builtIn: FleetItem[]
}

const rank = (i: FleetItem) => (i.healthy === 'False' ? 0 : i.pending > 0 || i.healthy === 'Unknown' ? 1 : i.drained ? 2 : 3)
// Of clusters with pending objects, the one that has waited longest comes first.
const waits = (i: FleetItem) => (i.pendingSince ? Date.parse(i.pendingSince) : 0)
const worse = ['False', 'Unknown', 'True']

/** gridOf lists clusters with their external-dns, those that need somebody first, and what the built-in publisher publishes. */
export function gridOf(items: FleetItem[]): Grid {
  const publishers = items.filter((i) => i.kind === 'externalDNS')
  const worst = (a: FleetItem, b: FleetItem) => worse.indexOf(a.healthy) - worse.indexOf(b.healthy)
  const rows = items
    .filter((i) => i.kind === 'cluster')
    .map((item) => ({ cluster: item.cluster, item, publishers: publishers.filter((p) => p.cluster === item.cluster).sort(worst) }))
    .sort((a, b) => rank(a.item) - rank(b.item) || waits(a.item) - waits(b.item) || (a.cluster < b.cluster ? -1 : 1))
  return { rows, builtIn: publishers.filter((p) => p.cluster === builtIn) }
}

/** isLike tells whether a cluster is what a user looks for, by a part of its name or of a label. */
export function isLike(typed: string, cluster: string, labels: string[]): boolean {
  const text = typed.trim().toLowerCase()
  return [cluster, ...labels].some((one) => one.toLowerCase().includes(text))
}
