import { expect, test } from 'vitest'
import type { Event } from '../api/types'
import { changesOf, differences } from './docdiff'

const path = 'projects/shop/composite-apps/a/v1/deployment-intent-groups/g/traffic-group-intents/t/dns-intents/www'
const write = (revision: number, before: unknown, after: unknown) => ({ time: '', actor: 'anna', action: 'replace', revision, outcome: 'stored', message: '', path, ...(before ? { before: { spec: before } } : {}), after: { spec: after } }) as Event

test('a document says which fields have changed, from what to what', () => {
  expect(differences({ ttl: 300, hostnames: ['a.example'], routing: { weights: { one: 1 } } }, { ttl: 60, hostnames: ['a.example', 'b.example'], routing: { weights: { one: 1 } }, scope: 'public' })).toEqual([
    { field: 'hostnames', from: 'a.example', to: 'a.example, b.example' },
    { field: 'scope', from: 'none', to: 'public' },
    { field: 'ttl', from: '300', to: '60' },
  ])
  expect(differences({ a: { b: 1 } }, { a: { b: 2 } })).toEqual([{ field: 'a/b', from: '1', to: '2' }])
})

test('two revisions are compared, also if the first one was written before the events begin', () => {
  const events = [write(2, { ttl: 300 }, { ttl: 200 }), write(3, { ttl: 200 }, { ttl: 60 })]
  const ttl = (from: string, to: string) => [{ field: 'ttl', from, to }]
  expect([changesOf(events, path, 1, 3), changesOf(events, path, 2, 3), changesOf(events, path, 3, 4), changesOf([], path, 1, 2)]).toEqual([ttl('300', '60'), ttl('200', '60'), [], []])
})
