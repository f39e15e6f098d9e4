import { describe, expect, test } from 'vitest'
import { parse as parseEvents, pause } from '../api/events'
import { choose } from '../api/oidc'
import { may } from '../api/session'
import type { NameOwner, NameStatus } from '../api/types'
import { findingsOf } from './advice'
import { chainOf, layout } from './chain'
import { cli, curl, kindOf, ownerWord, quote } from './commands'
import { link, parse } from './route'
import { findCommand, isPattern, pattern, question } from './search'
import { clip, counted, visible } from './text'
import { ago, duration } from './time'
import { verdict } from './verdict'

const record = (changes: Partial<NameStatus> = {}): NameStatus => ({ name: 'www.example', type: 'A', record: 'lab', scope: 'public', targets: ['192.0.2.1'], conditions: [], sources: [], rejected: [], ...changes })
const condition = (type: 'Synced' | 'Published' | 'Verified', status: 'True' | 'False' | 'Unknown') => ({ type, status, reason: '', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' })
const owner = (changes: Partial<NameOwner> = {}): NameOwner => ({ owner: 'projects/shop/names/www.example', project: 'shop', state: 'Instantiated', release: 3, accepted: '', actor: 'anna', message: '', documents: [{ path: 'projects/shop/names/www.example', revision: 1, current: 1 }], records: [record()], externalDNS: [], ...changes })

describe('texts of others', () => {
  test('show what hides in them', () => {
    expect(visible('a\u202eb\u0000c\u200bd')).toBe('a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d')
    expect(visible('tag\u{e0041}')).toBe('tag⟨U+E0041⟩')
    expect(visible('Zürich, 東京, 🙂\n')).toBe('Zürich, 東京, 🙂\n')
  })
  test('are cut between characters', () => {
    expect(clip('🙂🙂🙂', 3)).toBe('🙂🙂🙂')
    expect(clip('🙂🙂🙂🙂', 3)).toBe('🙂🙂…')
    expect(clip('x'.repeat(100_000), 5)).toBe('xxxx…')
  })
})

describe('addresses', () => {
  test('hold any name', () => {
    for (const name of ['*.example', 'a/b', '%', '"><script>', 'ü?#&']) expect(parse(link(['names', name], { tab: name }))).toMatchObject({ path: ['names', name] })
    expect(parse(link(['names'], { q: 'a&b=c' })).query.get('q')).toBe('a&b=c')
  })
  test('that are broken do no harm', () => expect(parse('#/names/%E0%A4%A').path).toEqual(['names', '%E0%A4%A']))
})

describe('commands', () => {
  test('quote what a shell would read', () => {
    expect(quote('plain/word-1.x')).toBe('plain/word-1.x')
    expect(quote(`a'; rm -rf ~`)).toBe(`'a'\\''; rm -rf ~'`)
    expect(cli('find', '*.example', '--worst')).toBe(`signpost find '*.example' --worst`)
  })
  test('have no token in them', () => {
    expect(curl('GET', '/v2/names', undefined, false)).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(curl('PUT', '/v2/x', { a: "it's" })).toContain(`-d '{"a":"it'\\''s"}'`)
  })
  test('name groups as the command line does', () => {
    expect(ownerWord('projects/shop/composite-apps/store/v1/deployment-intent-groups/prod')).toBe('shop/store/v1/prod')
    expect(ownerWord('projects/shop/names/www.example')).toBe('projects/shop/names/www.example')
    expect(kindOf('projects/shop/dns-update-records/lab')).toBe('provider')
    expect(kindOf('cluster-providers/edge/clusters/one')).toBe('cluster')
  })
})

describe('the search', () => {
  test('finds a part of a name', () => {
    expect(pattern(' Shop. ')).toBe('*shop*')
    expect(pattern('*.shop.example')).toBe('*.shop.example')
    expect(pattern('')).toBeUndefined()
  })
  test('knows what no host name can have', () => expect(['*shop*', '*a b*', 'ü.example', ''].map(isPattern)).toEqual([true, false, false, true]))
  test('is a command too', () => expect(findCommand({ name: '*shop*', project: 'shop', published: 'False', sort: 'worst' })).toBe("signpost find '*shop*' --project shop --published False --worst"))
  test('asks for the worst first', () => expect(question({ q: 'x', project: 'shop', provider: '', cluster: '', state: '', published: 'False', verified: '', sort: '' })).toEqual({ name: '*x*', project: 'shop', published: 'False', sort: 'worst' }))
})

describe('a verdict', () => {
  const of = (o: Partial<NameOwner>) => verdict({ owners: [owner(o)] })
  test('is that of the worst owner', () => {
    const good = owner({ records: [record({ conditions: [condition('Published', 'True'), condition('Verified', 'True')] })] })
    expect(verdict({ owners: [good] })).toEqual({ tone: 'good', word: 'answered as published' })
    expect(verdict({ owners: [good, owner({ state: 'Failed' })] }).tone).toBe('bad')
    expect(verdict({ owners: [] }).tone).toBe('unknown')
  })
  test('says of a name that nothing offers an address any more that its removal is held, and why', () => {
    const held = { ...condition('Synced', 'False'), reason: 'RemovalFrozen', message: 'no address exists any more' }
    const kept = owner({ records: [record({ conditions: [held, condition('Published', 'True'), condition('Verified', 'True')] })] })
    expect(verdict({ owners: [kept] })).toEqual({ tone: 'note', word: 'removal held' })
    expect(findingsOf(kept)).toMatchObject([{ what: 'removal held', tone: 'note', why: 'no address exists any more' }])
    expect(chainOf(kept).nodes.find((n) => n.column === 2)).toMatchObject({ tone: 'note', lines: ['1 target', 'removal held'] })
  })
  test('is that of who gives the name, if another one has no target, as after a drain', () => {
    const idle = owner({ records: [record({ targets: [], conditions: [condition('Published', 'False')] })] })
    for (const [verified, word] of [['True', 'answered as published'], ['False', 'not answered as published'], ['Unknown', 'published']] as const) {
      const gives = owner({ records: [record({ targets: ['192.0.2.1'], conditions: [condition('Published', 'True'), condition('Verified', verified)] })] })
      expect(verdict({ owners: [idle, gives] }).word).toBe(word)
      expect(verdict({ owners: [idle, { ...gives, project: 'another' }] }).word).toBe('no target')
      expect(verdict({ owners: [{ ...idle, state: 'Failed' }, gives] }).word).toBe('failed')
    }
  })
  test('never claims what was not seen', () => {
    expect(of({ records: [record({ conditions: [condition('Published', 'Unknown')] })] }).tone).toBe('unknown')
    expect(of({ records: [] }).tone).toBe('unknown')
  })
  test('knows wrong answers and missing targets', () => {
    expect(of({ records: [record({ conditions: [condition('Published', 'True'), condition('Verified', 'False')] })] })).toEqual({ tone: 'bad', word: 'not answered as published' })
    expect(of({ records: [record({ targets: [] })] })).toEqual({ tone: 'bad', word: 'no target' })
    expect(of({ state: 'Updating', records: [record({ conditions: [condition('Published', 'False')] })] }).tone).toBe('wait')
  })
})

describe('the picture of a name', () => {
  test('leads from the document to the servers', () => {
    const within = chainOf(owner({ externalDNS: [{ record: 'lab', cluster: 'built-in', scope: 'public', version: 'v1', message: '' }], records: [record({ conditions: [condition('Published', 'True')] })] }))
    expect(within.nodes.find((n) => n.column === 3)).toMatchObject({ title: 'lab', lines: ['built-in publisher'], tone: 'good' })
    const chain = chainOf(owner({ externalDNS: [{ record: 'lab', cluster: 'edge+hub', scope: 'public', version: 'v1', message: '' }], records: [record({ answers: [{ server: '192.0.2.53:53', at: '', targets: ['192.0.2.9'], message: 'answers 192.0.2.9' }] })] }))
    expect(chain.nodes.map((n) => [n.column, n.title, n.tone])).toEqual([
      [0, 'www.example', 'good'],
      [1, 'Release 3', 'good'],
      [2, 'A', 'unknown'],
      [3, 'lab', 'unknown'],
      [4, '192.0.2.53:53', 'bad'],
    ])
    expect(chain.edges).toHaveLength(4)
  })
  test('says that an edit is not deployed', () => expect(chainOf(owner({ documents: [{ path: 'a/b', revision: 1, current: 2 }] })).nodes[0]).toMatchObject({ tone: 'note', lines: ['revision 2 is not deployed'] }))
  test('stays small, whatever there is', () => {
    const records = Array.from({ length: 300 }, (_, i) => record({ record: `p${i}`, answers: Array.from({ length: 20 }, (_, s) => ({ server: `s${s}`, at: '' })) }))
    const chain = chainOf(owner({ records, documents: Array.from({ length: 500 }, (_, i) => ({ path: `d${i}`, revision: 1, current: 1 })) }))
    expect(chain.nodes.length).toBeLessThan(80)
    expect(chain.nodes.filter((n) => n.title.endsWith(' more')).length).toBeGreaterThanOrEqual(2)
  })
  test.each([1200, 320])('has no box on another at %i px', (width) => {
    const picture = layout(chainOf(owner({ records: [record(), record({ record: 'other', answers: [{ server: 'a', at: '' }, { server: 'b', at: '' }] })] })), width)
    for (const a of picture.nodes) {
      expect(a.x + a.width).toBeLessThanOrEqual(width + 0.5)
      expect(a.y + a.height).toBeLessThanOrEqual(picture.height)
      for (const b of picture.nodes) if (a !== b) expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true)
    }
  })
})

describe('times', () => {
  const now = Date.parse('2026-01-01T12:00:00Z')
  test.each([
    ['2026-01-01T11:59:59Z', 'just now'],
    ['2026-01-01T11:58:00Z', '2 min ago'],
    ['2025-12-30T12:00:00Z', '2 d ago'],
    ['2026-01-01T12:00:30Z', 'just now'],
    ['2026-01-01T14:00:00Z', 'in 2 h (its clock differs from yours)'],
    ['nonsense', '–'],
    [undefined, '–'],
  ])('%s is %s', (time, says) => expect(ago(time, now)).toBe(says))
  test('of the server are in words', () => {
    expect(['1m7s', '5m0s', '140ms', '0s', 'soon'].map(duration)).toEqual(['1 min 7 s', '5 min', '140 ms', '0s', 'soon'])
  })
})

describe('rights', () => {
  const who = { subject: 'x', roles: [{ role: 'operator' as const, project: 'shop' }, { role: 'viewer' as const }] }
  test('count in their project', () => {
    expect(may(who, 'operator', 'shop')).toBe(true)
    expect(may(who, 'operator', 'other')).toBe(false)
    expect(may(who, 'viewer', 'other')).toBe(true)
    expect(may(who, 'operator')).toBe(false)
    expect(may(who, 'editor', '*')).toBe(true)
    expect(may(null, 'viewer', '*')).toBe(false)
  })
})

describe('events', () => {
  test('come in pieces', () => {
    const first = parseEvents('id: 1\nevent: start\ndata: {}\n\nid: 2\nevent: ev')
    expect(first.messages).toEqual([{ id: '1', kind: 'start', data: '{}' }])
    expect(parseEvents(`${first.rest}ent\ndata: a\ndata: b\r\n\r\n`).messages).toEqual([{ id: '2', kind: 'event', data: 'a\nb' }])
  })
  test('are asked for again ever later, and not by all at once', () => {
    expect(pause(1, () => 0)).toBe(500)
    expect(pause(50, () => 1)).toBe(30_000)
  })
})

describe('the token of an issuer', () => {
  const token = (aud: unknown) => `h.${btoa(JSON.stringify({ aud }))}.s`
  test('is the one for the server', () => {
    expect(choose(token(['signpost']), 'id', ['signpost'])).toBe(token(['signpost']))
    expect(choose(token('elsewhere'), 'id', ['signpost'])).toBe('id')
    expect(choose('opaque', 'id', ['signpost'])).toBe('id')
    expect(choose('opaque', undefined, ['signpost'])).toBe('opaque')
  })
})

test('a host name of several owners is one name, in several rows', () => expect([counted(17, 18), counted(1, 1), counted(0, 0)]).toEqual(['17 names in 18 rows', '1 name', '0 names']))
