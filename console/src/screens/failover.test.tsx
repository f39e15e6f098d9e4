import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { go, link } from '../lib/route'
import { until } from '../testing'
import { FailoverPlace } from './failover'

const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } } })
let root: HTMLElement
let sent: { query: URLSearchParams; body: unknown }[]

const preview = { token: 't1', drain: ['edge+one'], undrain: [], unchanged: [], names: [], counts: { names: 0, stay: 0, one: 0, none: 0, unhealthy: 0 }, hosts: { moved: 0, answered: 0, none: 0, gone: 0, one: 0, unhealthy: 0, stay: 0 }, refusals: [], warnings: [] }

const moved = { name: 'www.example', project: 'shop', type: 'A', provider: 'lab', before: ['192.0.2.1'], after: ['192.0.2.2'], clustersAfter: [], published: '2026-11-28T10:00:00Z' }
const over = { id: 'over', time: '2026-11-28T10:00:00Z', actor: 'olga', drain: { clusters: ['edge/one'] }, drained: ['edge+one'], undrained: [], names: [moved], counts: { ...preview.counts, names: 1 }, hosts: { ...preview.hosts, moved: 1 }, answered: 0, state: 'Superseded', message: 'edge+one was undrained' }

/** answers are those of a server with two clusters. */
function answers(asked: string, init?: RequestInit): Promise<Response> {
  const url = new URL(asked)
  const answer = (body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } }))
  if (url.pathname.endsWith('/v2/failovers') && init?.method === 'POST') {
    sent.push({ query: url.searchParams, body: JSON.parse(init.body as string) })
    return answer(url.searchParams.get('dryRun') ? preview : { ...preview, id: 'made' })
  }
  if (url.pathname.endsWith('/failovers/over')) return answer(over)
  if (url.pathname.endsWith('/failovers/made')) return Promise.resolve(new Response('{}', { status: 404 }))
  if (url.pathname.endsWith('/clusters')) return answer({ items: [{ metadata: { name: 'one' }, spec: {} }, { metadata: { name: 'two' }, spec: {} }] })
  if (url.pathname.endsWith('/cluster-providers')) return answer({ items: [{ metadata: { name: 'edge' } }] })
  return answer({ items: [] })
}

beforeAll(() => {
  vi.stubGlobal('fetch', (asked: string | Request, init?: RequestInit) => (typeof asked === 'string' ? answers(asked, init) : answers(asked.url, { method: asked.method })))
})

afterAll(() => vi.unstubAllGlobals())

beforeEach(() => {
  sessionStorage.clear()
  go(link(['failover']), true)
  sent = []
  caller.value = { subject: 'olga', roles: [{ role: 'operator' }] }
  root = document.createElement('div')
  document.body.append(root)
  void act(() =>
    render(
      <QueryClientProvider client={client}>
        <FailoverPlace />
      </QueryClientProvider>,
      root,
    ),
  )
})

afterEach(() => {
  render(null, root)
  root.remove()
  client.clear()
})

/** found waits for an element with a text. */
const found = (selector: string, text: string) =>
  until(() => {
    const one = [...root.querySelectorAll<HTMLElement>(selector)].find((e) => e.textContent.includes(text))
    if (!one) throw new Error(`there is no ${selector} with ${text}`)
    return one
  })

/** look asks for the preview. */
const look = () => void act(() => void root.querySelector('form')?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })))

const shown = () => root.querySelector('[aria-label=Preview]') !== null

test('a reason that is typed after the preview keeps it, and is what is confirmed', async () => {
  const box = (await found('label', 'edge/one')).querySelector('input') as HTMLInputElement
  void act(() => box.click())
  look()
  await until(() => expect(shown()).toBe(true))
  const why = root.querySelector('input[maxlength="1000"]') as HTMLInputElement
  void act(() => {
    why.value = 'a flood'
    why.dispatchEvent(new Event('input', { bubbles: true }))
  })
  expect(shown()).toBe(true)
  const confirm = await found('button', 'Fail over: no name changes')
  void act(() => confirm.click())
  await until(() => expect(sent).toHaveLength(2))
  expect(sent[1]?.query.get('confirm')).toBe('t1')
  expect(sent[1]?.body).toEqual({ drain: { clusters: ['edge/one'] }, reason: 'a flood' })
})

test('another choice of clusters takes the preview away', async () => {
  const box = (await found('label', 'edge/one')).querySelector('input') as HTMLInputElement
  void act(() => box.click())
  look()
  await until(() => expect(shown()).toBe(true))
  void act(() => (root.querySelectorAll<HTMLInputElement>('input[type=checkbox]')[1] as HTMLInputElement).click())
  expect(shown()).toBe(false)
})

test('a failover that is over waits for nothing', async () => {
  void act(() => go(link(['failover', 'over'])))
  await found('h1', 'edge/one')
  const row = await found('tbody tr', 'www.example')
  expect(row.textContent).toContain('not seen')
  expect(root.textContent).not.toContain('not yet')
  expect(root.textContent).not.toContain('…')
})
