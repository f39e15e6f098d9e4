import type { Tone } from '../ui/basics'
import type { NameOwner, NameStatus } from '../api/types'
import { plural } from './text'
import { clusterPath, inWords } from './words'

/** Node is a box of the chain from the intent to the answer. */
export interface Node {
  id: string
  column: number
  title: string
  lines: string[]
  tone: Tone
}

export interface Edge {
  from: string
  to: string
}

export interface Chain {
  nodes: Node[]
  edges: Edge[]
}

export const columns = ['Intent', 'Release', 'Targets', 'Publisher', 'Servers'] as const

/** builtIn is the home of a provider whose names Signpost itself publishes. */
export const builtIn = 'built-in'

const most = 6 // boxes of a column; the table has all

const last = (path: string) => path.split('/').at(-1) ?? path

/** condition is the worst status of a condition over records: False before Unknown before True. */
export function worst(records: NameStatus[], type: string): 'True' | 'False' | 'Unknown' | undefined {
  const all = records.flatMap((r) => r.conditions.filter((c) => c.type === type).map((c) => c.status))
  return all.includes('False') ? 'False' : all.includes('Unknown') ? 'Unknown' : all.length > 0 ? 'True' : undefined
}

/** isHeld tells whether a name stays published only because too many names would go at once. */
export const isHeld = (records: Pick<NameStatus, 'conditions'>[]) => records.some((r) => r.conditions.some((c) => c.reason === 'RemovalFrozen'))

const toneOf = (status: string | undefined): Tone => (status === 'True' ? 'good' : status === 'False' ? 'bad' : 'unknown')

/** chainOf draws an owner's way of a name, from its documents to its servers. */
export function chainOf(owner: NameOwner): Chain {
  const nodes: Node[] = []
  const edges: Edge[] = []
  const add = (node: Node, ...from: string[]) => {
    nodes.push(node)
    for (const one of from) edges.push({ from: one, to: node.id })
  }
  const documents = capped(owner.documents.length)
  owner.documents.slice(0, documents.shown).forEach((d, i) => {
    const stale = d.revision !== d.current
    add({
      id: `document-${i}`,
      column: 0,
      title: last(d.path),
      lines: [stale ? `revision ${d.current} is not deployed` : `revision ${d.revision}`],
      tone: stale ? 'note' : 'good',
    })
  })
  if (documents.more > 0) add(moreOf('document-more', 0, documents.more))
  add(
    {
      id: 'release',
      column: 1,
      title: owner.release > 0 ? `Release ${owner.release}` : 'No release',
      lines: [owner.actor ? `by ${owner.actor}` : owner.state, owner.state],
      tone: owner.state === 'Instantiated' ? 'good' : owner.state === 'Failed' ? 'bad' : 'wait',
    },
    ...nodes.map((n) => n.id),
  )
  addEndpoints(owner, add)
  return { nodes, edges }
}

const capped = (n: number) => (n > most ? { shown: most - 1, more: n - most + 1 } : { shown: n, more: 0 })

const moreOf = (id: string, column: number, n: number): Node => ({ id, column, title: `${n} more`, lines: ['the table has all'], tone: 'plain' })

function addEndpoints(owner: NameOwner, add: (node: Node, ...from: string[]) => void) {
  const groups = new Map<string, NameStatus[]>()
  for (const record of owner.records) {
    const key = `${record.record}/${record.scope}`
    groups.set(key, [...(groups.get(key) ?? []), record])
  }
  const room = capped(groups.size)
  for (const [key, records] of [...groups].slice(0, room.shown)) {
    const [first] = records
    if (!first) continue
    const endpoint = `endpoint-${key}`
    const targets = records.reduce((n, r) => n + r.targets.length, 0)
    const synced = targets === 0 ? 'False' : (worst(records, 'Synced') ?? worst(records, 'Committed'))
    add({ id: endpoint, column: 2, title: [...new Set(records.map((r) => r.type))].join(', '), lines: [targets === 0 ? 'no address to publish' : plural(targets, 'target'), isHeld(records) ? 'removal held' : `${first.scope} scope`], tone: isHeld(records) ? 'note' : toneOf(synced) }, 'release')
    const running = owner.externalDNS.filter((e) => e.record === first.record && e.scope === first.scope)
    const published = targets === 0 ? 'Unknown' : worst(records, 'Published')
    running.slice(0, most).forEach((e, i) =>
      add({ id: `dns-${key}-${i}`, column: 3, title: e.record, lines: e.cluster === builtIn ? ['built-in publisher'] : ['external-dns', clusterPath(e.cluster)], tone: e.message ? 'bad' : toneOf(published) }, endpoint),
    )
    if (running.length === 0) add({ id: `dns-${key}-0`, column: 3, title: first.record, lines: ['not known'], tone: 'unknown' }, endpoint)
    addServers(key, records, add)
  }
  if (room.more > 0) add(moreOf('endpoint-more', 2, room.more), 'release')
}

function addServers(key: string, records: NameStatus[], add: (node: Node, ...from: string[]) => void) {
  const from = `dns-${key}-0`
  const servers = new Map<string, string[]>()
  for (const answer of records.flatMap((r) => r.answers ?? [])) {
    const known = servers.get(answer.server) ?? []
    servers.set(answer.server, answer.message ? [...known, answer.message] : known)
  }
  if (servers.size === 0) {
    const nothing = records.every((r) => r.targets.length === 0)
    add({ id: `server-${key}`, column: 4, title: 'not asked', lines: [nothing ? 'there is nothing to answer' : 'no server has been asked yet'], tone: 'unknown' }, from)
    return
  }
  const room = capped(servers.size)
  for (const [server, faults] of [...servers].slice(0, room.shown)) {
    add({ id: `server-${key}-${server}`, column: 4, title: server, lines: [faults[0] ? inWords(faults[0]) : 'answers as published'], tone: faults.length > 0 ? 'bad' : 'good' }, from)
  }
  if (room.more > 0) add(moreOf(`server-${key}-more`, 4, room.more), from)
}

/** Placed is a node with its place in the picture. */
export interface Placed extends Node {
  x: number
  y: number
  width: number
  height: number
}

export interface Picture {
  nodes: Placed[]
  lines: { d: string; tone: Tone }[]
  heads: { text: string; x: number; y: number }[]
  width: number
  height: number
  narrow: boolean
}

const box = 64
const gap = 12
const head = 28

/** layout places a chain from left to right, or downwards where there is no room for that. */
export function layout(chain: Chain, width: number): Picture {
  return width >= 760 ? across(chain, width) : down(chain, width)
}

function across(chain: Chain, width: number): Picture {
  const space = 36
  const shown = columns.map((text, c) => ({ text, own: chain.nodes.filter((n) => n.column === c) })).filter(({ own }) => own.length > 0) // without an intent, there is no column of it
  const each = (width - space * (shown.length - 1)) / shown.length
  const rows = Math.max(...shown.map(({ own }) => own.length), 1)
  const height = head + rows * (box + gap) - gap + 2
  const nodes = shown.flatMap(({ own }, c) => {
    const top = head + (rows - own.length) * (box + gap) * 0.5
    return own.map((n, i) => ({ ...n, x: c * (each + space), y: top + i * (box + gap), width: each, height: box }))
  })
  const heads = shown.map(({ text }, c) => ({ text, x: c * (each + space), y: 14 }))
  const lines = chain.edges.flatMap((e) => {
    const [a, b] = [nodes.find((n) => n.id === e.from), nodes.find((n) => n.id === e.to)]
    if (!a || !b) return []
    const [x1, y1, x2, y2] = [a.x + a.width, a.y + box / 2, b.x, b.y + box / 2]
    const mid = (x1 + x2) / 2
    return [{ d: `M${x1} ${y1}C${mid} ${y1} ${mid} ${y2} ${x2} ${y2}`, tone: b.tone }]
  })
  return { nodes, lines, heads, width, height, narrow: false }
}

function down(chain: Chain, width: number): Picture {
  let y = 0
  const nodes: Placed[] = []
  const heads: Picture['heads'] = []
  columns.forEach((text, c) => {
    const own = chain.nodes.filter((n) => n.column === c)
    if (own.length === 0) return
    heads.push({ text, x: 14, y: y + 14 })
    y += head - 6
    for (const n of own) {
      nodes.push({ ...n, x: 14, y, width: width - 14, height: box })
      y += box + 6
    }
    y += 10
  })
  const lines = nodes.slice(1).map((n, i) => ({ d: `M5 ${(nodes[i] ?? n).y + box / 2}L5 ${n.y + box / 2}`, tone: n.tone }))
  return { nodes, lines, heads, width, height: y, narrow: true }
}
