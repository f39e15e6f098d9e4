import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../testing'
import { follow, live, pause } from './events'
import { needed, setBearer } from './session'

afterEach(() => {
  vi.unstubAllGlobals()
  needed.value = null
  setBearer('')
})

/** server answers 401 but to a token; its stream stays open. */
function server(token: string) {
  const asked: (string | null)[] = []
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    const given = new Headers(init.headers).get('Authorization')
    asked.push(given)
    return Promise.resolve(given === `Bearer ${token}` ? new Response(new ReadableStream()) : new Response('', { status: 401 }))
  })
  return asked
}

test('events are followed again once the user has signed in anew', async () => {
  setBearer('old')
  const asked = server('new')
  const stop = new AbortController()
  void follow(new QueryClient(), stop.signal)
  await until(() => expect(live.value).toBe('out'))
  expect(needed.value).toEqual({ why: '' })
  setBearer('new')
  needed.value = null
  await until(() => expect(live.value).toBe('live'))
  expect(asked).toEqual(['Bearer old', 'Bearer new'])
  stop.abort()
})

test('nobody waits for a sign-in that is not wanted any more', async () => {
  server('new')
  const stop = new AbortController()
  const end = follow(new QueryClient(), stop.signal)
  await until(() => expect(live.value).toBe('out'))
  stop.abort()
  await end
})

test('tries become rarer, to a bound', () => {
  expect(pause(1, () => 1)).toBe(1000)
  expect(pause(100, () => 1)).toBe(30_000)
})
