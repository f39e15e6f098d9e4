import { expect, test } from 'vitest'
import type { Event, FleetItem, NameTurn } from '../api/types'
import { beginOf, byDay, documentAt, drainedIn, drainsIn, fits, groupsIn, hostsOf, isWhole, joined, lostIn, meets, rowsOf, turnOf, type Span } from './changes'

const path = 'projects/shop/names/cake.example'
const event = (changes: Partial<Event>): Event => ({ time: '', actor: 'anna', action: 'update', revision: 2, outcome: 'accepted', message: '', path, ...changes })
const after = { metadata: { name: 'cake.example' }, spec: { addresses: ['192.0.2.1'] } }
const events = [
  event({ actor: 'signpost', outcome: 'completed', requestID: 'r2' }),
  event({ action: 'replace', outcome: 'stored', revision: 7, requestID: 'r2', message: 'changes /spec/addresses' }),
  event({ requestID: 'r2', message: 'rolled back to release 1' }),
  event({ path: 'projects/shop/dns-update-records/lab', action: 'replace', outcome: 'stored', revision: 2, requestID: 'r1b' }),
  event({ action: 'create', outcome: 'stored', revision: 1, requestID: 'r1', after }),
  event({ action: 'instantiate', revision: 1, requestID: 'r1' }),
]

test('a request, its document and its end are one change', () => {
  expect(joined(events).map((e) => [e.action, e.actor, e.outcome, e.message])).toEqual([
    ['update', 'anna', 'completed', 'rolled back to release 1: changes /spec/addresses'],
    ['replace', 'anna', 'stored', ''],
    ['instantiate', 'anna', 'accepted', ''],
  ])
})

test('what a release changes is told once', () => {
  const words = 'changes ttl from 60 to 30'
  expect(joined([event({ action: 'replace', outcome: 'stored', requestID: 'r', message: 'changes /spec/ttl' }), event({ requestID: 'r', message: words })]).map((e) => e.message)).toEqual([words])
})

test('clusters that cannot be reached are changes without an author', () => {
  const item = (kind: string, cluster: string, changes = {}) => ({ kind, cluster, ...changes }) as FleetItem
  const items = [item('cluster', 'edge/one', { unreachableSince: '2026-01-01T10:00:00Z', message: 'connection refused' }), item('cluster', 'edge/two'), item('externalDNS', 'edge/one', { unreachableSince: '2026-01-01T10:00:00Z' })]
  const found = (filter: object) => lostIn(items, { about: '', actor: '', action: '', ...filter }).map((row) => [row.time, row.lost.cluster])
  expect(found({})).toEqual([['2026-01-01T10:00:00Z', 'edge/one']])
  expect([found({ about: 'REFUSED' }), found({ about: 'two' }), found({ actor: 'anna' })]).toEqual([[['2026-01-01T10:00:00Z', 'edge/one']], [], []])
})

test('a name that goes, and its document, are one change', () => {
  const gone = [event({ action: 'delete', outcome: 'deleted', requestID: 'r3' }), event({ action: 'terminate', requestID: 'r3' })]
  expect(joined(gone).map((e) => [e.action, e.outcome])).toEqual([['terminate', 'accepted']])
})

test('the document of a release is found by its request', () => {
  expect(documentAt(events, path, 1)).toEqual(after)
  expect(documentAt([event({ action: 'terminate', revision: 1, requestID: 'gone' }), ...events], path, 1)).toEqual(after)
  expect(documentAt(events, path, 3)).toBeUndefined()
  const hidden = { ...after, metadata: { ...after.metadata, description: 'password=***' } }
  expect(documentAt([event({ outcome: 'stored', requestID: 'r', after: hidden }), event({ requestID: 'r' })], path, 2)).toBeUndefined()
})

test('changes are put together by day, and a span is of whole days', () => {
  const now = new Date(2026, 10, 27, 9, 30)
  const at = (day: number, hour: number) => ({ time: new Date(2026, 10, day, hour).toISOString() })
  const events = [at(27, 9), at(27, 0), at(26, 23), at(26, 0), at(20, 5)]
  expect(byDay(events, now).map((d) => [d.day, d.events.length])).toEqual([['Today', 2], ['Yesterday', 2], [expect.stringContaining('20'), 1]])
  const within = (span: Span) => events.filter((e) => Date.parse(e.time) >= (beginOf(span, now).from ?? 0) && Date.parse(e.time) < (beginOf(span, now).until ?? Infinity)).length
  expect((['latest', 'hour', 'today', 'yesterday', 'week'] as const).map(within)).toEqual([5, 1, 2, 2, 4])
})

test('changes are found by name, cluster, author and action', () => {
  const any = { about: '', actor: '', action: '' }
  const [of] = joined([event({})])
  const [drain] = joined([event({ path: 'cluster-providers/edge/clusters/berlin', action: 'drain', actor: 'olga' })])
  if (!of || !drain) throw new Error('there are two')
  expect([fits(of, any), fits(of, { ...any, about: 'CAKE' }), fits(drain, { ...any, about: 'edge/berlin' }), fits(drain, { ...any, actor: 'anna' }), fits(drain, { ...any, action: 'drain' }), fits(of, { ...any, action: 'drain' })]).toEqual([true, true, true, false, true, false])
  const group = { ...of, path: 'projects/shop/composite-apps/a/v1/deployment-intent-groups/g' }
  const byOwner = new Map([[group.path, ['a.example', 'b.example']]])
  expect([hostsOf(of, byOwner), hostsOf(drain, byOwner), hostsOf(group, byOwner)]).toEqual([['cake.example'], [], ['a.example', 'b.example']])
  expect(groupsIn([of, group, group], 2)).toEqual(['shop'])
})

test('changes are found by their reason', () => {
  const [drain] = joined([event({ path: 'cluster-providers/edge/clusters/berlin', action: 'drain', outcome: 'completed', message: 'A flood in the cellar' })])
  if (!drain) throw new Error('there is one')
  expect(['flood', 'drought'].map((about) => fits(drain, { about, actor: '', action: '' }))).toEqual([true, false])
})

test('a change of a name has what became of it in DNS', () => {
  const turn = (cause: Partial<NameTurn['cause']>) => ({ time: '', project: 'shop', owner: path, cause: { reason: 'Release', message: '', ...cause }, changes: [] }) as NameTurn
  const turns = [turn({ requestID: 'other' }), turn({ action: 'update', release: 2 }), turn({ requestID: 'r2' })]
  const [of] = joined([event({ requestID: 'r2' })])
  const [older] = joined([event({})])
  if (!of || !older) throw new Error('there are two')
  expect([turnOf(of, turns.slice(2)), turnOf(older, turns), turnOf({ ...older, revision: 3 }, turns)]).toEqual([turns[2], turns[1], undefined])
})

test('the drain of one cluster is a row with its reason and its names, and a failover is none', () => {
  const drain = event({ path: 'cluster-providers/edge/clusters/berlin', action: 'drain', outcome: 'completed', revision: 0, actor: 'olga', message: 'a flood', time: '2026-01-01T10:00:00.123456Z' })
  const all = joined([event({ ...drain, action: 'drain', message: 'failover 20260101t1-abcde: Done, 1 of 1 names are answered' }), drain, event({ ...drain, outcome: 'accepted', message: 'failover 20260101t1-abcde' })])
  expect(all.map((e) => [e.action, e.outcome, e.message])).toEqual([['drain', 'completed', 'a flood']])
  expect(drainsIn(all, 2)).toEqual([drain.path])
  const turn = (asked: string) => ({ time: '2026-01-01T10:00:01Z', project: 'shop', cause: { reason: 'Drain', message: '', action: 'drain', cluster: 'edge+berlin', asked }, changes: [] }) as NameTurn
  const turns = [turn('2025-01-01T10:00:00Z'), turn(drain.time)]
  const rows = rowsOf({ changes: all, moves: [] }, { changes: all, moves: [] }, new Map([[drain.path ?? '', ['cake.example']]]), new Map([['cake.example', turns]]), () => true)
  expect(rows.map((r) => [r.change?.action, r.turns.map((t) => t.turn.cause.asked)])).toEqual([[undefined, ['2025-01-01T10:00:00Z']], ['drain', [drain.time]]])
})

test('changes that nobody asked for stand between requests, by their times', () => {
  const turn = (time: string, cause: Partial<NameTurn['cause']>) => ({ time, project: 'shop', owner: path, cause: { reason: 'Address', message: '', ...cause }, changes: [] }) as NameTurn
  const all = joined([event({ time: '2026-01-01T12:00:00Z', requestID: 'r3', revision: 3 }), event({ time: '2026-01-01T10:00:00Z', requestID: 'r2' })])
  const histories = new Map([['cake.example', [turn('2026-01-01T12:00:01Z', { requestID: 'r3', reason: 'Release' }), turn('2026-01-01T11:00:00Z', {}), turn('2026-01-01T10:00:01Z', { requestID: 'r2', reason: 'Release' })]]])
  const both = { changes: all, moves: [] }
  const rows = rowsOf(both, both, new Map(), histories, () => true)
  expect(rows.map((r) => [r.time.slice(11, 13), r.change?.revision, r.turns.length])).toEqual([['12', 3, 1], ['11', undefined, 1], ['10', 2, 1]])
  expect(rowsOf({ changes: all.slice(1), moves: [] }, both, new Map(), histories, () => false)).toHaveLength(1) // neither what is filtered out nor its effect
  const any = { about: '', actor: '', action: '' }
  const drain = turn('', { actor: 'olga', action: 'drain' })
  expect([meets(drain, 'a.example', any), meets(drain, 'a.example', { ...any, about: 'b.' }), meets(drain, 'a.example', { ...any, actor: 'olga', action: 'drain' }), meets(drain, 'a.example', { ...any, actor: 'anna' })]).toEqual([true, false, true, false])
})

test('a time is whole only if what was read reaches back to its begin, or nothing is earlier', () => {
  const at = '2026-11-02T09:00:00Z'
  const from = Date.parse(at)
  expect([isWhole(from - 1, at, true), isWhole(from + 1, at, true), isWhole(from - 1, at, false), isWhole(undefined, at, true), isWhole(undefined, undefined, false)]).toEqual([false, true, true, false, true])
})

test('a drain that a group follows is one of its cluster', () => {
  const path = 'projects/shop/composite-apps/landing/v1/deployment-intent-groups/promo'
  const of = (action: 'drain' | 'undrain' | 'update', message: string) => drainedIn({ action, path, message })
  expect(of('drain', 'edge+paris is drained since 2026-11-01T12:00:00Z: public names have none of its addresses')).toBe('edge/paris')
  expect(of('undrain', 'edge+paris is drained no longer: public names may have its addresses again')).toBe('edge/paris')
  expect([of('update', 'edge+paris is drained since then'), drainedIn({ action: 'drain', path: 'cluster-providers/edge/clusters/paris', message: 'a flood' })]).toEqual(['', ''])
})
