import { builtIn } from './chain'
import type { FleetItem } from '../api/types'

export type Cell = FleetItem

export interface Row {
  cluster: string
  item: FleetItem
  cells: (Cell | undefined)[]
}

/** Grid is the clusters by external-dns, and what the built-in publisher publishes. */
export interface Grid {
  columns: string[] // project/provider
  rows: Row[]
  builtIn: FleetItem[]
}

const rank = (i: FleetItem) => (i.healthy === 'False' ? 0 : i.pending > 0 || i.healthy === 'Unknown' ? 1 : i.drained ? 2 : 3)
// Of clusters with pending objects, the one that has waited longest comes first.
const waits = (i: FleetItem) => (i.pendingSince ? Date.parse(i.pendingSince) : 0)
const worse = ['False', 'Unknown', 'True']

/** gridOf makes a grid of clusters by external-dns, with the clusters that need somebody first, and lists what the built-in publisher publishes. */
export function gridOf(items: FleetItem[]): Grid {
  const clusters = items.filter((i) => i.kind === 'cluster')
  const running = items.filter((i) => i.kind === 'externalDNS' && i.cluster !== builtIn)
  const column = (i: FleetItem) => `${i.project}/${i.provider}`
  const columns = [...new Set(running.map(column))].sort()
  const at = new Map<string, FleetItem>()
  for (const i of running) {
    const key = `${i.cluster}\n${column(i)}`
    const known = at.get(key) // of another scope: the worse one counts
    if (!known || worse.indexOf(i.healthy) < worse.indexOf(known.healthy)) at.set(key, i)
  }
  const rows = clusters
    .map((item) => ({ cluster: item.cluster, item, cells: columns.map((c) => at.get(`${item.cluster}\n${c}`)) }))
    .sort((a, b) => rank(a.item) - rank(b.item) || waits(a.item) - waits(b.item) || (a.cluster < b.cluster ? -1 : 1))
  return { columns, rows, builtIn: items.filter((i) => i.kind === 'externalDNS' && i.cluster === builtIn) }
}

/** isLike tells whether a cluster is what a user looks for, by a part of its name or of a label. */
export function isLike(typed: string, cluster: string, labels: string[]): boolean {
  const text = typed.trim().toLowerCase()
  return [cluster, ...labels].some((one) => one.toLowerCase().includes(text))
}
