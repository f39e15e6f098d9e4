import { beforeEach, describe, expect, test } from 'vitest'
import type { Event, FoundName, NameStatus, Plan } from '../api/types'
import { answersOf, findingsOf, staying } from './advice'
import { allowOf, answered, deskOf, drainOf, emptyChoice, keepDesk, keptWord, lostOf, movesWord, titleOf } from './failover'
import { isLike } from './fleet'
import { byNeed, messageOf } from './groups'
import { changedGroups, leaving } from './pending'
import { countsOf, goes, hostsOf, lacking, movesOf, ttlTold, ttlTurn } from './plan'
import { clock, clockOnly, isPast } from './time'
import { gravest, namesOf as troubled } from './trouble'
import { inWords, withTimes } from './words'

const record = (changes: Partial<NameStatus> = {}): NameStatus => ({ name: 'a.example', type: 'A', record: 'lab', scope: 'public', targets: ['192.0.2.1'], conditions: [], sources: [], rejected: [], ...changes })
const hosts = { moved: 0, answered: 0, none: 0, gone: 0, one: 0, unhealthy: 0, stay: 0 }

describe('sentences of the server', () => {
  test.each([
    ['the update would remove 6 names; see POST …/plan?for=update, and confirm it by ?confirm=<token>', 'the update would remove 6 names; look at its plan, and confirm that'],
    ['project "p" requires a plan for names: look at the plan here, and repeat the request with ?confirm=6f1c', 'project "p" requires a plan for names: look at the plan here, and confirm it'],
    ['edge+a has the last addresses of x; undrain another cluster that has some, or remove the names with --force (?force=true)', 'edge/a has the last addresses of x; undrain another cluster that has some, or force it at the failover desk, and the names go'],
    ['the role operator, with --force (?force=true)', 'force it at the failover desk; it needs the role operator'],
    ['the role admin in all projects, with ?override=window (--override window)', 'preview without the rule at the failover desk; it needs the role admin'],
    ['is missing, and project "p" has no provider; create one first: POST /v2/projects/p/dns-update-records', 'is missing, and project "p" has no provider; make one first, in Publish, A provider'],
    ['plain words', 'plain words'],
    ['a.b of projects/shop/names/a.b is published', 'a.b of project shop is published'],
    ['203.0.113.7 of projects/shop/names/a.b is an address for documentation', '203.0.113.7 of a.b is an address for documentation'],
    ['projects/shop/names/a.b is at "6", so If-Match does not hold', 'a.b is at "6", so If-Match does not hold'],
    ['it belongs to projects/shop/composite-apps/store/v1/deployment-intent-groups/prod, which', 'it belongs to group shop/store/v1/prod, which'],
    ['create projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/dns-intents/www', 'create projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/dns-intents/www'],
  ])('%s', (said, shown) => {
    expect(inWords(said)).toBe(shown)
    expect(inWords(said)).not.toMatch(/[?&]\w+=|--\w/)
  })
})

describe('a plan', () => {
  const plan: Plan = { token: 't', objects: [], warnings: [], errors: [], names: [{ name: 'a', type: 'A', record: 'lab', action: 'delete', targets: [] }, { name: 'a', type: 'AAAA', record: 'lab', action: 'delete', targets: [] }, { name: 'b', type: 'A', record: 'lab', action: 'delete', targets: [] }, { name: 'b', type: 'AAAA', record: 'lab', action: 'unchanged', targets: [] }] }
  test('counts and loses names, not types', () => {
    expect(hostsOf(plan.names)).toBe(2)
    expect([goes(plan, 'a'), goes(plan, 'b'), goes(plan, 'c')]).toEqual([true, false, false])
    expect(leaving(plan)).toEqual(['a'])
  })
  test('counts an SRV record with its host name, as the list of names does', () => {
    const names: Plan['names'] = [{ name: 'a.example', type: 'A', record: 'lab', action: 'update', targets: [] }, { name: '_https._tcp.a.example', type: 'SRV', record: 'lab', action: 'create', targets: [] }, { name: '_sip._udp.b.example', type: 'SRV', record: 'lab', action: 'create', targets: ['1 1 443 a.example'] }]
    expect(hostsOf(names)).toBe(2)
    expect(countsOf({ names })).toBe('Of 2 host names, 1 is new, 1 changes.')
    expect(countsOf({ names: [] })).toBe('The plan has no host name.')
  })
  test('shows a change of the TTL', () => {
    const names: Plan['names'] = [{ name: 'a', type: 'A', record: 'lab', action: 'update', targets: ['192.0.2.1'], before: ['192.0.2.1'], ttl: 60 }]
    expect(movesOf({ ...plan, names }).map(ttlTold)).toEqual(['TTL from the default to 60 s'])
    expect(ttlTurn({ before: 300, after: 60 })).toBe('TTL from 300 s to 60 s')
  })
  test('tells of Services that no cluster has', () => expect([lacking(plan), lacking({ missingServices: ['web/x'] })]).toEqual(['', 'web/x']))
})

test('groups with changes that are not deployed are known by events', () => {
  const group = (name: string) => `projects/p/composite-apps/a/v1/deployment-intent-groups/${name}`
  const event = (path: string, outcome: string) => ({ path, outcome }) as Event
  const events = [event(`${group('one')}/traffic-group-intents/default/dns-intents/w`, 'deleted'), event(group('two'), 'accepted'), event(`${group('two')}/traffic-group-intents/default/dns-intents/w`, 'stored'), event('projects/p/names/x', 'stored')]
  expect(changedGroups(events)).toEqual([group('one')])
})

describe('what is not in order', () => {
  const condition = (type: 'Published' | 'Verified', status: 'True' | 'False' | 'Unknown', message: string) => ({ type, status, reason: 'R', message, lastTransitionTime: '' })
  test('has a reason and a remedy, once', () => {
    const found = findingsOf({ state: 'Instantiated', message: '', records: [record({ conditions: [condition('Published', 'Unknown', 'cannot be observed'), condition('Verified', 'True', '')] }), record({ type: 'AAAA', conditions: [condition('Published', 'Unknown', 'cannot be observed')] })] })
    expect(found).toMatchObject([{ what: 'publication unknown', tone: 'unknown', why: 'cannot be observed' }])
    expect(found[0]?.advice).toContain('preflight')
  })
  test('a removal that is held of two records is one', () => {
    const records = ['A', 'AAAA'].map((type) => record({ type, conditions: [{ ...condition('Published', 'True', 'it would remove 3 of 4 names'), reason: 'RemovalFrozen' }] }))
    expect(findingsOf({ state: 'Instantiated', message: '', records }).map((f) => f.what)).toEqual(['removal held'])
  })
  test('a name without an address has the remedy of its clusters, and a general one only if that is not known', () => {
    const found = (message: string) => findingsOf({ state: 'Instantiated', message: '', records: [record({ targets: [], conditions: [{ ...condition('Published', 'False', message), reason: 'NoAddress' }] })] })[0]
    const drained = 'dc/one is drained: undrain it, or give the name another cluster'
    expect(found(drained)).toMatchObject({ why: drained, advice: '' })
    expect(found('no cluster has an address that may be published')?.advice).toContain('Look at the Service')
    expect(found('none of its addresses may be published: 10.0.0.1 (private address in a public name: its provider has no allowPrivate)')?.advice).toBe('')
  })
  test('a name of a cluster that was never reached waits for the cluster, not for its Service', () => {
    const message = 'no cluster has an address that may be published; the addresses of Service web/front on dc+one are not known yet'
    const found = (cluster: string) => findingsOf({ state: 'Instantiated', message: '', unreachable: [{ cluster, since: '', targets: [], waiting: 0, effect: '' }], records: [record({ targets: [], conditions: [{ ...condition('Published', 'False', message), reason: 'NoAddress' }] })] })[0]
    expect(found('dc+one')?.advice).toMatch(/^The cluster does not answer/)
    expect(found('dc+two')?.advice).toContain('Look at the Service')
  })
  test('an address that another cluster gives stays', () => {
    const source = (cluster: string) => ({ target: '192.0.2.1', cluster, object: 'Service web/x', field: 'f', kind: 'service' }) as unknown as NameStatus['sources'][number]
    const out = { target: '192.0.2.1', cluster: 'dc+one', object: 'Service web/x', field: 'f', reason: 'the cluster is drained' } as NameStatus['rejected'][number]
    expect(staying([record({ sources: [source('dc+two')], rejected: [out] })])).toMatchObject([{ target: '192.0.2.1', cluster: 'dc+one', others: ['dc+two'] }])
    expect(staying([record({ targets: [], rejected: [out] })])).toEqual([])
  })
})

describe('the failover desk', () => {
  beforeEach(() => sessionStorage.clear())
  test('says what is answered', () => {
    expect(answered({ hosts: { ...hosts, moved: 2, answered: 1 }, state: 'Moving' })).toBe('1 of 2 names are answered')
    expect(answered({ hosts: { ...hosts, moved: 1, answered: 1 }, state: 'Done' })).toBe('1 of 1 name is answered')
  })
  test('says what becomes of names', () => {
    expect(movesWord({ hosts: { ...hosts, moved: 1, none: 2 } })).toBe('3 names change, 2 of them lose their last address')
    expect(movesWord({ hosts })).toBe('no name changes')
    expect(movesWord({ hosts: { ...hosts, moved: 2000 } })).toBe('2,000 names change')
  })
  test('says how many names keep their answers', () => {
    const counts = { names: 2, stay: 0, one: 0, none: 0, unhealthy: 0 }
    expect([keptWord(counts), keptWord({ ...counts, kept: 0 }), keptWord({ ...counts, kept: 1 }), keptWord({ ...counts, kept: 7 })]).toEqual(['', '', '1 name loses a cluster and keeps its answer; it is not listed.', '7 names lose a cluster and keep their answers; they are not listed.'])
  })
  test('has a title that says what was done', () => {
    expect([titleOf({ drained: ['dc+a'], undrained: [] }), titleOf({ drained: ['dc+a'], undrained: ['dc+b', 'dc+c'] }), titleOf({ drained: [], undrained: ['dc+a'], revertOf: 'x' })]).toEqual(['Failover of dc/a', 'Failover of dc/a to dc/b, dc/c', 'Undo: undrain of dc/a'])
  })
  test('knows which drain took a name out, by what is drained now', () => {
    const cluster = (path: string, since?: string, failover?: string) => ({ path, document: { status: since ? { drained: { since, actor: 'anna', ...(failover ? { failover } : {}) } } : {} } })
    const known = [cluster('dc/a', '2026-11-02T09:00:00Z', 'one'), cluster('dc/b', '2026-11-02T10:00:00Z', 'two'), cluster('dc/b2', '2026-11-02T10:00:00Z', 'two'), cluster('dc/c', '2026-11-02T11:00:00Z'), cluster('dc/undrained')]
    const of = (...clusters: string[]) => drainOf(known, clusters)
    expect(of('dc/a')).toMatchObject({ failover: 'one', one: true })
    expect(of('dc+b', 'dc/a')).toMatchObject({ failover: 'two', one: false })
    expect(of('dc/b', 'dc/b2')).toMatchObject({ failover: 'two', one: true })
    expect(of('dc/a', 'dc/c')).toMatchObject({ since: '2026-11-02T11:00:00Z', one: false })
    expect([of('dc/a', 'dc/undrained'), of('dc/undrained'), of('dc/unknown'), of()]).toEqual([undefined, undefined, undefined, undefined])
  })
  test('speaks of a button and of a box only if they are there', () => {
    const rule = { rule: 'window' as const, detail: '', allow: 'the role admin in all projects, with ?override=window (--override window)' }
    const force = { force: true, detail: '', allow: 'the role operator, with --force (?force=true)' }
    expect([allowOf(rule, { button: true, box: false }), allowOf(force, { button: false, box: true })]).toEqual(['preview without the rule, by the button below; it needs the role admin', 'tick the box below; it needs the role operator'])
    for (const refusal of [rule, force]) {
      const said = allowOf(refusal, { button: false, box: false })
      expect(said).not.toMatch(/button|box|--|[?]/)
      expect(said).toContain('it needs the role')
    }
    expect(allowOf({ detail: '', allow: 'nobody; leave the cluster out' }, { button: true, box: true })).toBe('nobody; leave the cluster out')
  })
  test('knows the clusters that cannot be reached', () => expect(lostOf({ clustersAfter: ['dc+two'] }, [{ cluster: 'dc+one', since: '' }, { cluster: 'dc+two', since: '' }]).map((l) => l.cluster)).toEqual(['dc+two']))
  test('keeps what was chosen, but for a link that names a cluster', () => {
    const kept = { ...emptyChoice, clusters: ['dc/one'], labels: 'region=eu', verb: 'undrain' as const, reason: 'flood' }
    keepDesk(kept)
    expect(deskOf(new URLSearchParams())).toEqual(kept)
    expect(deskOf(new URLSearchParams({ drain: 'dc+two' }))).toEqual({ ...emptyChoice, clusters: ['dc/two'], seen: true })
  })
})

test('a time that is over is past', () => expect([isPast('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z')), isPast('2026-01-01T00:00:01Z', Date.parse('2026-01-01T00:00:00Z'))]).toEqual([true, false]))

test('a time in a sentence is told apart, and one of another day has its date and zone', () => {
  expect(withTimes('it leaves at 2026-11-02T09:36:00Z, unless')).toEqual(['it leaves at ', '2026-11-02T09:36:00Z', ', unless'])
  const now = new Date(2026, 10, 27, 9, 30)
  const at = (day: number) => new Date(2026, 10, day, 8, 5, 7).toISOString()
  expect(clock(at(27), now)).toBe(clockOnly(at(27)))
  expect(clock(at(27), now)).toContain('07')
  expect(clock(at(26), now)).toMatch(/26.*8:05.*[A-Z]/)
})

test('a name is listed under its gravest trouble alone', () => {
  const of = (state: 'Failed' | 'Instantiated', published: 'True' | 'False' | 'Unknown', verified: 'True' | 'False' | 'Unknown') => gravest({ state, published, verified })
  expect([of('Failed', 'False', 'False'), of('Instantiated', 'False', 'Unknown'), of('Instantiated', 'Unknown', 'False'), of('Instantiated', 'Unknown', 'Unknown'), of('Instantiated', 'True', 'True')]).toEqual(['failed', 'unpublished', 'foreign', 'unverified', ''])
})

describe('names of a kind of trouble', () => {
  const name = (n: number, changes: Partial<FoundName>): FoundName => ({ name: `${n}.example`, project: 'p', owner: `projects/p/names/${n}.example`, provider: 'lab', scope: 'public', externalDNS: [], clusters: [], state: 'Instantiated', published: 'True', verified: 'True', ...changes })
  const server = (all: FoundName[]) => (q: Record<string, string>) => {
    const fit = all.filter((n) => (['state', 'published', 'verified'] as const).every((key) => !q[key] || n[key] === q[key]))
    const from = Number(q['continue'] ?? 0)
    const until = from + Number(q['limit'])
    return Promise.resolve({ items: fit.slice(from, until), total: fit.length, hosts: fit.length, asOf: { revision: 1, time: '' }, ...(until < fit.length ? { continue: String(until) } : {}) })
  }
  const many = (n: number, changes: Partial<FoundName>) => Array.from({ length: n }, (_, i) => name(i, changes))
  test('are not those of graver kinds, however many', async () => {
    const read = server(many(300, { published: 'False', verified: 'Unknown' }))
    expect(await troubled('unverified', read)).toEqual({ names: [], n: 0 })
    expect((await troubled('unpublished', read)).n).toBe(300)
  })
  test('are all counted without those of failed owners, and shown behind them', async () => {
    const read = server([...many(70, { state: 'Failed', published: 'Unknown', verified: 'Unknown' }), ...many(90, { published: 'Unknown', verified: 'Unknown' }), ...many(3, { verified: 'Unknown' })])
    const found = await troubled('unverified', read)
    expect([found.n, found.names.some((n) => n.state === 'Failed'), found.names.length > 10]).toEqual([93, false, true])
    expect((await troubled('failed', read)).n).toBe(70)
  })
})

test('clusters are found by parts of their names and labels', () => {
  expect([isLike('', 'dc/a', []), isLike('region=E', 'dc/a', ['region=eu']), isLike('boston', 'dc/a', ['region=us'])]).toEqual([true, true, false])
})

test('groups that wait say for what, and come first', () => {
  const group = (path: string, state: 'Updating' | 'Instantiated', message?: string) => ({ path, state, release: 1, names: 1, undeployed: 0, ...(message ? { message } : {}) })
  expect([group('a', 'Instantiated'), group('b', 'Updating')].sort(byNeed).map((g) => g.path)).toEqual(['b', 'a'])
  expect([messageOf(group('b', 'Updating')), messageOf(group('b', 'Updating', 'no room')), messageOf(group('a', 'Instantiated'))]).toEqual([expect.stringContaining('waits'), 'no room', '–'])
})

test('answers of a server to two intents are one', () => {
  const answers = [{ server: '192.0.2.53:53', at: '', targets: ['192.0.2.1'] }]
  expect(answersOf([record({ answers }), record({ answers }), record({ type: 'AAAA', answers })]).map((a) => a.type)).toEqual(['A', 'AAAA'])
})
