import { render } from 'preact'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { json, shown, until } from '../testing'
import { PlanView } from '../ui/planview'
import type { PublishScreen as Screen } from './publish'

const document = (address: string) => ({ metadata: { name: 'a.example' }, spec: { addresses: [address] } })
const path = 'projects/shop/names/a.example'
const events = [
  { time: '', actor: 'anna', action: 'instantiate', revision: 1, outcome: 'accepted', message: '', path, requestID: 'r1' },
  { time: '', actor: 'anna', action: 'create', revision: 1, outcome: 'stored', message: '', path, requestID: 'r1', after: document('192.0.2.1') },
]
const asked: URL[] = []
let PublishScreen: typeof Screen

beforeAll(async () => {
  vi.stubGlobal('fetch', (url: string | Request, init?: RequestInit) => {
    const at = new URL(typeof url === 'string' ? url : url.url)
    if ((init?.method ?? (typeof url === 'string' ? 'GET' : url.method)) === 'PUT') asked.push(at)
    if (at.pathname.endsWith('/events')) return Promise.resolve(json({ items: events }))
    if (at.searchParams.has('dryRun')) return Promise.resolve(json({ token: 't', names: [], objects: [], warnings: [], errors: [] }))
    if (at.pathname.endsWith('/v2/names/a.example')) return Promise.resolve(json({ name: 'a.example', owners: [] }))
    if (at.pathname.endsWith('/names/a.example')) return Promise.resolve(json({ ...document('192.0.2.2'), metadata: { name: 'a.example', revision: 2 } }))
    return Promise.resolve(json({ items: [] }))
  })
  ;({ PublishScreen } = await import('./publish')) // the client of the API keeps the fetch that it finds
})

afterAll(() => vi.unstubAllGlobals())

test('a way back tells the server which release it restores, until the form is edited', async () => {
  caller.value = { subject: 'olga', roles: [{ role: 'admin' }] }
  location.hash = '#/publish?project=shop&name=a.example&release=1'
  const { root, close } = shown(<PublishScreen />)
  const button = () => [...root.querySelectorAll('button')].find((b) => b.textContent.startsWith('Go back'))
  await until(() => expect(button()?.disabled).toBe(false))
  button()?.click()
  await until(() => expect(asked.map((u) => u.searchParams.get('confirm'))).toContain('t'))
  expect(new Set(asked.map((u) => u.searchParams.get('restores')))).toEqual(new Set(['1']))
  close()
  asked.length = 0
  const edited = shown(<PublishScreen />)
  await until(() => expect(asked.at(-1)?.searchParams.get('restores')).toBe('1'))
  const field = [...edited.root.querySelectorAll('input, textarea')].find((f) => (f as HTMLInputElement).value.includes('192.0.2.1')) as HTMLInputElement
  field.value = '192.0.2.7'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await until(() => expect(asked.at(-1)?.searchParams.has('restores')).toBe(false))
  await until(() => expect([...edited.root.querySelectorAll('button')].some((b) => b.textContent.startsWith('Change'))).toBe(true))
  edited.close()
  location.hash = ''
  caller.value = null
})

test('a plan with errors calls no name new, and promises no time', () => {
  const root = window.document.createElement('div')
  const create = { name: 'a.example', type: 'A', record: 'lab', action: 'create' as const, before: [], targets: ['192.0.2.1'], answeredWithin: '1s' }
  render(<PlanView project="shop" plan={{ token: '', objects: [], warnings: [], errors: [{ pointer: '/metadata/name', detail: 'is given by another group' }], names: [create] }} />, root)
  const row = root.querySelector('tbody tr')?.textContent ?? ''
  expect(row).toContain('refused')
  for (const promise of ['new', 'none', 'answered after']) expect(row).not.toContain(promise)
  render(null, root)
})
