import { describe, expect, test } from 'vitest'
import type { Event, NameTurn } from '../api/types'
import { folded, joined, rowsOf } from './changes'
import type { Failover } from './failover'
import { caused, failoverIn, fitsMove, isPart, movesIn, turnedOf, undoers } from './moved'

const group = 'projects/shop/composite-apps/store/v1/deployment-intent-groups/prod'
const cluster = (name: string) => `cluster-providers/edge/clusters/${name}`
const event = (changes: Partial<Event>): Event => ({ time: '2026-01-01T10:00:00Z', actor: 'olga', action: 'drain', revision: 0, outcome: 'completed', message: '', ...changes })
const told = (host: string, path: string) => event({ path, time: '2026-01-01T10:00:04Z', message: `failover one-abcde: every authoritative server answers the new targets of ${host} A; caches may hold the old ones until 2026-01-01T10:05:00Z` })

// The newest first: a failover of berlin to boston, and its revert.
const events = [
  event({ time: '2026-01-01T11:00:00Z', action: 'drain', outcome: 'accepted', path: cluster('boston'), message: 'failover two-fghij: reverts one-abcde' }),
  event({ time: '2026-01-01T11:00:00Z', action: 'undrain', outcome: 'accepted', path: cluster('berlin'), message: 'failover two-fghij: reverts one-abcde' }),
  event({ time: '2026-01-01T10:00:05Z', action: 'undrain', path: cluster('boston'), message: 'failover one-abcde: Done, 2 of 2 names are answered' }),
  event({ time: '2026-01-01T10:00:05Z', path: cluster('berlin'), message: 'failover one-abcde: Done, 2 of 2 names are answered' }),
  told('www.example', group),
  told('cake.example', 'projects/shop/names/cake.example'),
  event({ action: 'undrain', outcome: 'accepted', path: cluster('boston'), message: 'failover one-abcde: a flood: the cellar' }),
  event({ outcome: 'accepted', path: cluster('berlin'), message: 'failover one-abcde: a flood: the cellar' }),
]

test('a failover is one row with all of its clusters, its reason and its names', () => {
  const [undo, move] = movesIn(events)
  expect(move).toMatchObject({ id: 'one-abcde', time: '2026-01-01T10:00:00Z', actor: 'olga', drained: ['edge/berlin'], undrained: ['edge/boston'], reason: 'a flood: the cellar', revertOf: '', state: 'Done' })
  expect([move?.hosts, move?.owners]).toEqual([['www.example', 'cake.example'], [group, 'projects/shop/names/cake.example']])
  expect(undo).toMatchObject({ id: 'two-fghij', drained: ['edge/boston'], undrained: ['edge/berlin'], reason: '', revertOf: 'one-abcde', state: '' })
  expect(undoers(movesIn(events)).get('one-abcde')).toBe('two-fghij')
  expect(joined(events)).toEqual([]) // they have no other row
  expect(events.every(isPart)).toBe(true)
})

test('who reads events of one project alone has a row of the names', () => {
  expect(movesIn(events.filter((e) => e.path?.startsWith('projects/')))).toMatchObject([{ drained: [], undrained: [], time: '2026-01-01T10:00:04Z', hosts: ['www.example', 'cake.example'] }])
})

test('a name that has no address since is one of the failover, too', () => {
  const gone = event({ path: group, message: 'failover one-abcde: no authoritative server answers the old targets of www.example A any more, and there are no new ones; caches may hold them until 2026-01-01T10:05:00Z' })
  expect(movesIn([gone])[0]?.hosts).toEqual(['www.example'])
})

test('a failover without a reason is one, too, and a drain of one cluster is none', () => {
  expect([failoverIn('failover one-abcde'), failoverIn('changes /spec/failover x: y')]).toEqual([{ id: 'one-abcde', rest: '' }, undefined])
  expect(movesIn([event({ path: cluster('berlin'), message: 'a flood' })])).toEqual([])
})

test('a failover is found by clusters, names, groups, author and action', () => {
  const [, move] = movesIn(events)
  if (!move) throw new Error('there are two')
  const any = { about: '', actor: '', action: '' }
  const of = (filter: Partial<typeof any>) => fitsMove(move, { ...any, ...filter })
  expect([of({}), of({ about: 'edge/BOSTON' }), of({ about: 'cake' }), of({ about: 'store/v1' }), of({ about: 'Cellar' }), of({ actor: 'olga', action: 'undrain' })]).toEqual([true, true, true, true, true, true])
  expect([of({ about: 'munich' }), of({ actor: 'anna' }), of({ action: 'update' })]).toEqual([false, false, false])
})

test('what a failover does to a name is told in its row alone', () => {
  const moves = movesIn(events)
  const turn = (cause: Partial<NameTurn['cause']>) => ({ time: '2026-01-01T10:00:01Z', project: 'shop', owner: group, cause: { reason: 'Drain', message: '', action: 'drain', cluster: 'edge+berlin', asked: '2026-01-01T10:00:00.000Z', ...cause }, changes: [] }) as NameTurn
  const turns = [turn({}), turn({ asked: '2026-01-01T09:00:00Z' }), turn({ cluster: 'edge+munich' })]
  expect(turns.map((t) => moves.some((m) => caused(m, t.cause)))).toEqual([true, false, false])
  const rows = rowsOf({ changes: [], moves }, { changes: [], moves }, new Map(), new Map([['www.example', turns]]), () => true)
  expect(rows.map((r) => [r.move?.id, r.turns.length])).toEqual([['two-fghij', 0], [undefined, 1], [undefined, 1], ['one-abcde', 0]])
})

describe('groups that followed a failover', () => {
  const at = (time: string) => `2026-01-01T${time}Z`
  const follows = (time: string, since: string, outcome: Event['outcome'] = 'completed', path = group) => event({ time: at(time), outcome, path, revision: 3, message: `edge+berlin is drained since ${at(since)}: public names have none of its addresses` })
  const moves = movesIn(events)
  const rowsIn = (found: Event[], shown = moves) => {
    const all = { changes: joined(found), moves }
    return rowsOf(folded({ ...all, moves: shown }, all), all, new Map(), new Map(), () => true)
  }
  const short = (found: Event[], shown = moves) => rowsIn(found, shown).map((r) => r.move?.id ?? `${r.change?.time.slice(11, 16)} ${r.change?.outcome}`)
  const other = group.replace('prod', 'test')

  test('are in its row, and those of a later drain or that failed are not', () => {
    const alone = event({ time: at('10:30:00'), path: cluster('berlin'), message: 'again' })
    const found = [follows('10:31:00', '10:30:00'), alone, follows('10:02:00', '10:00:00', 'failed', other), follows('10:01:00', '10:00:00', 'completed', other), follows('10:01:00', '10:00:00')]
    expect(rowsIn(found).find((r) => r.move?.id === 'one-abcde')?.followers).toEqual([other, group])
    expect(short(found)).toEqual(['two-fghij', '10:31 completed', '10:30 completed', '10:02 failed', 'one-abcde'])
    expect(short(found, [])).toHaveLength(5) // without the row of the failover they stand alone
  })

  test('are in the row of the failover that they name, also for a user who knows nothing else of it', () => {
    const names = (id: string, path: string) => event({ time: at('10:00:02'), path, revision: 3, message: `edge+berlin is drained since ${at('10:00:00')}: public names have none of its addresses; failover ${id}` })
    const project = [told('www.example', group), names('one-abcde', other), names('three-klmno', group), names('one-abcde', group)]
    const all = { changes: joined(project), moves: movesIn(project) }
    const rows = rowsOf(folded(all, all), all, new Map(), new Map(), () => true)
    expect(rows.map((r) => r.move?.id ?? r.change?.path)).toEqual(['one-abcde', group])
    expect(rows[0]?.followers).toEqual([other, group])
  })

  test('are not in the row of a failover that only the reason of their drain names', () => {
    const drained = `edge+berlin is drained since ${at('09:00:00')}: public names have none of its addresses`
    const alone = event({ time: at('10:00:02'), path: other, revision: 3, message: `${drained}; reason: ask about addresses; failover one-abcde` })
    const all = { changes: joined([alone]), moves: movesIn([told('www.example', group)]) }
    expect(folded(all, all).changes).toEqual(all.changes)
  })

  test('are in its row though the clock of their server is slow', () => {
    const back = event({ time: at('10:59:58'), action: 'undrain', path: group, message: 'edge+berlin is drained no longer: public names may have its addresses again' })
    const rows = rowsIn([back, follows('09:59:40', '10:00:00')])
    expect(rows.map((r) => [r.move?.id, r.followers])).toEqual([['two-fghij', [group]], ['one-abcde', [group]]])
    expect(short([{ ...back, time: at('10:40:00') }])).toEqual(['two-fghij', '10:40 completed', 'one-abcde'])
  })
})

test('a moved name has what went and what came, and one that stays is none', () => {
  const name = { name: 'www.example', type: 'A', project: 'shop', owner: group, provider: 'lab', before: ['192.0.2.1', '192.0.2.2'], after: ['192.0.2.2', '192.0.2.3'], clustersBefore: [], clustersAfter: [], homes: [] } as Failover['names'][number]
  expect(turnedOf([name, { ...name, stays: 'suspended' }])).toEqual([{ name: 'www.example', type: 'A', owner: group, removed: ['192.0.2.1'], added: ['192.0.2.3'] }])
})
