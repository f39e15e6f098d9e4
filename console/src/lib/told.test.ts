import { describe, expect, test } from 'vitest'
import type { GroupSummary, NameExplanation, NameOwner, NameStatus, NameTurn, Plan } from '../api/types'
import { answeredWord } from '../screens/timeline'
import { changers, findingsOf } from './advice'
import { chainOf, layout } from './chain'
import { uses } from './draft'
import { answered, leftWord } from './failover'
import { isStrange } from './form'
import { actionsOf } from './groups'
import { hintOf } from './hints'
import { hostsIn, wayBack } from './plan'
import { ableClusters } from './services'
import { ownerOf } from './turns'
import { fateOf, verdict } from './verdict'

const groupPath = (name: string) => `projects/shop/composite-apps/store/v1/deployment-intent-groups/${name}`
const record = (changes: Partial<NameStatus> = {}): NameStatus => ({ name: 'a.example', type: 'A', record: 'lab', scope: 'public', targets: ['192.0.2.1'], conditions: [], sources: [], rejected: [], ...changes })
const owner = (path: string, changes: Partial<NameOwner> = {}): NameOwner => ({ owner: path, project: 'shop', state: 'Instantiated', release: 1, accepted: '', actor: 'anna', message: '', documents: [], records: [record()], externalDNS: [], ...changes })

describe('a request that failed', () => {
  const acted = [0, 400, 404, 409, 429, 500, 502, 503, 504].map((status) => hintOf(status, true))
  test('is not sent again if it was to change something, and nobody says that it is', () => {
    for (const hint of acted) expect(hint).not.toMatch(/by itself/)
    for (const status of [0, 500, 502, 503, 504]) expect(hintOf(status, true)).toMatch(/does not send it again: look at the present state/)
  })
  test('was not done if the server refused it, and is not known to be done if nobody answered', () => {
    for (const status of [404, 409, 429]) expect(hintOf(status, true)).toMatch(/^Nothing was done/)
    expect(hintOf(0, true)).toContain('It may have done this')
    expect(hintOf(503, true)).toContain('not known whether this was done')
  })
  test('is sent again if it only reads', () => {
    expect([hintOf(0, false), hintOf(503, false)]).toEqual([expect.stringContaining('tries again by itself'), expect.stringContaining('tries again by itself')])
    expect([hintOf(403, true), hintOf(403, false), hintOf(418, false)]).toEqual([hintOf(403, false), expect.stringContaining('role'), ''])
  })
})

describe('a name with several owners', () => {
  const [eu, us, own] = [{ owner: groupPath('eu'), project: 'shop' }, { owner: groupPath('us'), project: 'shop' }, { owner: 'projects/bank/names/a.example', project: 'bank' }]
  test('has in its timeline the owner of each row, and a name with one owner has not', () => {
    expect([ownerOf(eu, [eu, us]), ownerOf(own, [eu, own]), ownerOf(eu, [eu, eu]), ownerOf(eu, [eu], [us])]).toEqual(['group shop/store/v1/eu', 'project bank', '', 'group shop/store/v1/eu'])
    expect([ownerOf({ project: 'shop' }, [eu, us]), ownerOf({ project: 'shop' }, [eu])]).toEqual(['project shop', ''])
  })
  test('stays if one of them ends', () => {
    const both = { others: false, owners: [owner(groupPath('eu'), { state: 'Terminating' }), owner(groupPath('us'), { records: [record({ targets: ['192.0.2.2'] })] })] }
    expect(fateOf(both, groupPath('eu'))).toMatchObject({ word: 'stays', more: 'group shop/store/v1/us gives it, too: 192.0.2.2' })
    expect(fateOf({ ...both, owners: both.owners.slice(0, 1) }, groupPath('eu'))).toMatchObject({ word: 'going' })
    expect(fateOf({ others: true, owners: [] }, groupPath('eu'))).toMatchObject({ word: 'gone', more: 'a project that you may not read has it' })
    expect(fateOf({ ...both, owners: both.owners.slice(1) }, groupPath('us')).more).toBe('192.0.2.2')
  })
})

describe('a name', () => {
  test('that another project has is not said to be published by nobody', () => {
    const invisible: Pick<NameExplanation, 'owners'> = { owners: [] }
    expect(verdict(invisible).word).toBe('no project that you may read publishes it')
  })
  test('that is answered is not called under way because something else is', () => {
    const conditions = (['Published', 'Verified'] as const).map((type) => ({ type, status: 'True' as const, reason: '', message: '', lastTransitionTime: '' }))
    expect(verdict({ owners: [owner(groupPath('eu'), { state: 'Updating', records: [record({ conditions })] })] }).word).toBe('answered, the rest is under way')
    expect(verdict({ owners: [owner(groupPath('eu'), { state: 'Updating' })] }).word).toBe('under way')
  })
  test('says who may change it', () => {
    const name = { owner: 'projects/shop/names/a.example', project: 'shop' }
    expect([undefined, true, false].map((editors) => changers(name, editors))).toEqual([
      'Operators of project shop may change it, and editors if the project lets them.',
      'Operators and editors of project shop may change it.',
      'Operators of project shop may change it, editors may not.',
    ])
    expect(changers({ owner: groupPath('eu'), project: 'shop' })).toMatch(/^Operators of project shop may deploy and terminate it; editors/)
  })
  test('without an intent has no empty column for it', () => {
    const heads = (documents: NameOwner['documents']) => layout(chainOf(owner(groupPath('eu'), { documents })), 1000).heads.map((h) => h.text)
    expect(heads([])).toEqual(['Release', 'Targets', 'Publisher', 'Servers'])
    expect(heads([{ path: 'a/b', revision: 1, current: 1 }])).toEqual(['Intent', 'Release', 'Targets', 'Publisher', 'Servers'])
  })
  test('without an address is not sent to a section that is not there', () => {
    const conditions = [{ type: 'Published' as const, status: 'False' as const, reason: 'NoAddress', message: 'no Service', lastTransitionTime: '' }]
    const [found] = findingsOf(owner(groupPath('eu'), { records: [record({ targets: [], conditions })] }))
    expect(found?.advice).toMatch(/^Look at the Service.* If addresses may not be published, "Left out"/)
  })
})

test('a confirmed plan lists its names, those that change first, and the way back', () => {
  const name = (host: string, action: Plan['names'][number]['action'], type = 'A') => ({ name: host, type, record: 'lab', action, targets: ['192.0.2.1'] })
  expect(hostsIn({ names: [name('c', 'unchanged'), name('b', 'create'), name('a', 'delete'), name('a', 'unchanged', 'AAAA'), name('d', 'delete')] })).toEqual([
    { host: 'd', planned: 'goes' },
    { host: 'a', planned: 'changes' }, // it keeps a type
    { host: 'b', planned: 'new' },
    { host: 'c', planned: 'stays as it is' },
  ])
  const [fresh, moved] = [{ names: [name('a', 'create')] }, { names: [name('a', 'update')] }]
  expect(wayBack('terminate', 4, moved)).toMatchObject({ action: 'deploy' })
  expect(wayBack('update', 4, moved)).toMatchObject({ action: 'rollback', to: '3' })
  expect(wayBack('deploy', 4, fresh)).toMatchObject({ action: 'terminate' }) // it was not deployed before
  expect(wayBack('deploy', 1, moved)).toMatchObject({ action: 'terminate' })
  expect(wayBack('deploy', 0, fresh)).toBeUndefined()
})

test('a group that is not deployed offers nothing to terminate', () => {
  const of = (state: GroupSummary['state'], release: number) => actionsOf({ state, release })
  expect([of('Created', 0), of('Terminated', 2), of('Instantiated', 1)]).toEqual([['deploy'], ['deploy'], ['deploy', 'terminate']])
})

test('clusters are offered for Services only if they can have some', () => {
  const cluster = (path: string, spec: Parameters<typeof ableClusters>[0][number]['document']['spec']) => ({ path, document: { spec } })
  const all = [cluster('dc/one', {}), cluster('dc/two', { uses: ['addresses', 'home'] }), cluster('dc/hub', { uses: ['home'] }), cluster('edge/a', { directory: 'a' })]
  expect(ableClusters(all)).toEqual({ able: ['dc/one', 'dc/two'], unable: ['dc/hub (for home only)', 'edge/a (a directory)'] })
  expect(ableClusters(Array.from({ length: 20 }, (_, i) => cluster(`edge/${i}`, { directory: 'd' }))).unable).toHaveLength(7)
})

test('the project of a link is strange if the user may not publish there, and not while that is unknown', () => {
  expect([isStrange('shpo', ['shop']), isStrange('shop', ['shop']), isStrange('', ['shop']), isStrange('shpo', undefined)]).toEqual([true, false, false, false])
})

test('a failover says what is so: of then, if it was undone, and who has no address', () => {
  const hosts = { moved: 1, answered: 1, none: 1, gone: 1, one: 0, unhealthy: 0, stay: 0 }
  const r = { hosts, state: 'Done' as const }
  expect([answered(r), answered({ ...r, revertedBy: 'x' })]).toEqual(['1 of 1 name with an address is answered', '1 of 1 name with an address was answered'])
  expect([leftWord(r), leftWord({ ...r, revertedBy: 'x' }), leftWord({ ...r, hosts: { ...hosts, none: 0, gone: 0 } })]).toEqual(['1 name has no address since.', '1 name had no address.', ''])
  const moving = { hosts: { ...hosts, answered: 0, gone: 0 }, state: 'Moving' as const }
  expect([answered(moving), leftWord(moving), leftWord({ ...moving, state: 'Superseded' })]).toEqual(['0 of 1 name with an address is answered', '1 name loses its last address.', ''])
  expect(answered({ ...r, hosts: { ...hosts, moved: 0, answered: 0 } })).toBe('')
})

test('a change that servers were not seen to answer is waited for until the next one', () => {
  const turn = (at: string, change: object) => ({ time: `2026-01-01T10:00:0${at}Z`, owner: groupPath('eu'), cause: { reason: 'Address' }, changes: [{ type: 'A', ...change }] }) as NameTurn
  const [one, two] = [turn('1', { removed: ['192.0.2.1'] }), turn('3', { added: ['192.0.2.2'] })]
  expect(answeredWord(one, [])).toBe('Not all servers were seen to answer this change yet.')
  expect(answeredWord(one, [{ ...two, time: one.time }])).toBe('Not all servers were seen to answer this change yet.') // another cause of the same change
  expect(answeredWord(one, [two])).toBe('The next change came before all servers were seen to answer this one.')
  for (const other of [{ ...two, owner: groupPath('us') }, turn('3', { type: 'AAAA', added: ['2001:db8::1'] }), turn('3', { name: '_https._tcp', added: ['0 1 443 www'] })]) expect(answeredWord(one, [other])).toBe('Not all servers were seen to answer this change yet.')
  expect(answeredWord(turn('1', { removed: ['192.0.2.1'], answered: '2026-01-01T10:00:02Z' }), [two])).toBe('All servers answered this change after 1 s.')
  expect(answeredWord({ ...one, cause: { reason: 'Answers', message: '' } }, [])).toBe('') // it is an answer itself
  expect(answeredWord(turn('1', { name: '_https._tcp', added: ['0 1 443 www'] }), [])).toBe('') // servers are asked for the host name alone
})

test('the uses of a cluster are told as what may be, not as what is', () => {
  for (const [, text] of uses) expect(text).toContain(' may ')
})
