import { beforeEach, describe, expect, test } from 'vitest'
import type { Event, NameStatus, Plan } from '../api/types'
import { findingsOf, staying } from './advice'
import { answered, deskOf, keepDesk, lostOf, namesOf, type Moved } from './failover'
import { changedGroups, leaving } from './pending'
import { goes, hostsOf, lacking, movesOf, ttlMove, ttlTurn } from './plan'
import { isPast } from './time'
import { inWords } from './words'

const record = (changes: Partial<NameStatus> = {}): NameStatus => ({ name: 'a.example', type: 'A', record: 'lab', scope: 'public', targets: ['192.0.2.1'], conditions: [], sources: [], rejected: [], ...changes })
const moved = (changes: Partial<Moved>): Moved => ({ name: 'a.example', type: 'A', project: 'p', owner: 'projects/p/names/a.example', provider: 'lab', before: [], after: [], clustersBefore: [], clustersAfter: [], homes: [], ...changes })

describe('sentences of the server', () => {
  test.each([
    ['the update would remove 6 names; see POST …/plan?for=update, and confirm it by ?confirm=<token>', 'the update would remove 6 names; look at its plan, and confirm that'],
    ['project "p" requires a plan for names: look at the plan here, and repeat the request with ?confirm=6f1c', 'project "p" requires a plan for names: look at the plan here, and confirm it'],
    ['edge+a has the last addresses of x; undrain another cluster that has some, or remove the names with --force (?force=true)', 'edge/a has the last addresses of x; undrain another cluster that has some, or force it at the failover desk, and the names go'],
    ['the role operator, with --force (?force=true)', 'the role operator, by the box to tick'],
    ['the role admin in all projects, with ?override=window (--override window)', 'the role admin in all projects, by the button that previews without the rule'],
    ['is missing, and project "p" has no provider; create one first: POST /v2/projects/p/dns-update-records', 'is missing, and project "p" has no provider; make one first, in Publish, A provider'],
    ['plain words', 'plain words'],
    ['a.b of projects/shop/names/a.b is published', 'a.b of project shop is published'],
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
  test('shows a change of the TTL', () => {
    const names: Plan['names'] = [{ name: 'a', type: 'A', record: 'lab', action: 'update', targets: ['192.0.2.1'], before: ['192.0.2.1'], ttl: 60 }]
    expect(movesOf({ ...plan, names }).map(ttlMove)).toEqual(['TTL from the default to 60 s'])
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
    expect(found).toMatchObject([{ what: 'published: not known', bad: false, why: 'cannot be observed' }])
    expect(found[0]?.advice).toContain('preflight')
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
  test('counts names, not rows', () => expect(namesOf([moved({}), moved({ type: 'AAAA', left: 'one' }), moved({ name: 'b', stays: 'suspended' })])).toBe(1))
  test('says what is answered', () => {
    const counts = { names: 2, stay: 0, one: 0, none: 0, unhealthy: 0 }
    expect(answered({ answered: 1, counts, names: [moved({}), moved({ type: 'AAAA' })] })).toBe('1 of 2 records are answered')
    expect(answered({ answered: 1, counts: { ...counts, names: 1 }, names: [moved({})] })).toBe('1 of 1 name is answered')
  })
  test('knows the clusters that cannot be reached', () => expect(lostOf(moved({ clustersAfter: ['dc+two'] }), [{ cluster: 'dc+one', since: '' }, { cluster: 'dc+two', since: '' }]).map((l) => l.cluster)).toEqual(['dc+two']))
  test('keeps what was chosen, but for a link that names a cluster', () => {
    keepDesk({ clusters: ['dc/one'], labels: 'region=eu', verb: 'undrain', reason: 'flood' })
    expect(deskOf(new URLSearchParams())).toEqual({ clusters: ['dc/one'], labels: 'region=eu', verb: 'undrain', reason: 'flood' })
    expect(deskOf(new URLSearchParams({ drain: 'dc+two' }))).toEqual({ clusters: ['dc/two'], labels: '', verb: 'drain', reason: '' })
  })
})

test('a time that is over is past', () => expect([isPast('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z')), isPast('2026-01-01T00:00:01Z', Date.parse('2026-01-01T00:00:00Z'))]).toEqual([true, false]))
