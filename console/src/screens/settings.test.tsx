import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { json, serve, shown, until } from '../testing'
import type { SettingsScreen as Screen } from './settings'

const path = 'projects/shop/dns-update-records/lab'
let SettingsScreen: typeof Screen
let revision = 3
let spec: unknown
let asked: { method: string; path: string; body: unknown; match: string | null }[] = []

beforeAll(async () => {
  serve(({ pathname }, method, init) => {
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    asked.push({ method, path: pathname, body, match: new Headers(init?.headers).get('If-Match') })
    if (method === 'POST') {
      const { documents: [document] } = body as { documents: [{ spec: { provider: string } }] }
      const errors = document.spec.provider === 'coredn' ? [{ pointer: '/documents/0/spec/provider', detail: 'is not known' }] : []
      return json({ documents: [], errors, owners: [{ path, changes: errors.length === 0, plan: {} }] })
    }
    if (method === 'DELETE') return json({ status: 409, detail: 'projects/shop/names/www.lab.example refers to it' }, 409)
    if (method === 'PUT') {
      revision++
      spec = (body as { spec: unknown }).spec
    }
    return json({ metadata: { name: 'lab', revision }, spec, status: { warnings: [{ parameter: 'policy', message: 'removes nothing' }] } })
  })
  ;({ SettingsScreen } = await import('./settings')) // the client of the API keeps the fetch that it finds
})

beforeEach(() => {
  asked = []
  spec = { provider: 'coredns' }
  caller.value = { subject: 'ada', roles: [{ role: 'editor', project: 'shop' }] }
})

afterAll(() => vi.unstubAllGlobals())

async function opened() {
  const { root, client, close } = shown(<SettingsScreen path={path} />, true)
  await until(() => expect(root.querySelector('textarea')).not.toBeNull())
  const area = root.querySelector('textarea')
  if (!area) throw new Error('there are no settings')
  const type = (text: string) => {
    area.value = text
    area.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const button = (label: string) => [...document.querySelectorAll('button')].find((b) => b.textContent === label)
  return { root, close, area, type, button, reread: () => client.invalidateQueries(), submit: () => root.querySelector('form')?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })) }
}

const text = (spec: unknown) => JSON.stringify(spec, null, 2)

test('settings are judged while they are typed, and saved as a change of what was read', async () => {
  const { root, area, type, button, submit, close } = await opened()
  expect(root.textContent).toContain('removes nothing')
  expect([area.value, button('Save')?.disabled]).toEqual([text({ provider: 'coredns' }), true])
  type('{')
  await until(() => expect(root.textContent).toContain('is not JSON'))
  type('[]')
  await until(() => expect(root.textContent).toContain('must be a JSON object'))
  type('{"provider": "coredn"}')
  await until(() => expect(root.textContent).toContain('/spec/provider is not known'))
  expect(button('Save')?.disabled).toBe(true)
  const read = revision
  type('{"provider": "rfc2136"}')
  await until(() => expect(button('Save')?.disabled).toBe(false))
  expect(root.textContent).toContain('this changes 1 deployment: provider lab of shop')
  submit()
  await until(() => expect(root.textContent).toContain(`saved revision ${read + 1}`))
  expect(asked.find((a) => a.method === 'PUT')).toMatchObject({ path: `/v2/${path}`, match: `"${read}"`, body: { metadata: { name: 'lab' }, spec: { provider: 'rfc2136' } } })
  expect([area.value, button('Save')?.disabled]).toEqual([text({ provider: 'rfc2136' }), true])
  close()
})

test('settings follow what is stored until somebody types, and then say that they are behind', async () => {
  const { root, area, type, button, reread, close } = await opened()
  revision++
  await reread()
  await until(() => expect(root.textContent).toContain(`revision ${revision}`))
  type('{"provider": "rfc2136"}')
  await until(() => expect(button('Save')?.disabled).toBe(false))
  revision++
  await reread()
  await until(() => expect(root.textContent).toContain('Somebody has changed the settings meanwhile'))
  button('Undo the changes')?.click()
  await until(() => expect([area.value, root.textContent.includes('meanwhile')]).toEqual([text({ provider: 'coredns' }), false]))
  close()
})

test('a document that is needed is not deleted, and the dialog says by what', async () => {
  const { button, close } = await opened()
  button('Delete')?.click()
  await until(() => expect(button('Delete it')).toBeDefined())
  button('Delete it')?.click()
  await until(() => expect(document.body.textContent).toContain('www.lab.example refers to it'))
  expect(asked.find((a) => a.method === 'DELETE')?.match).toBe(`"${revision}"`)
  close()
})

test('who may not change settings reads them', async () => {
  caller.value = { subject: 'ada', roles: [{ role: 'viewer' }] }
  const { area, button, close } = await opened()
  expect([area.readOnly, button('Save'), button('Delete')]).toEqual([true, undefined, undefined])
  close()
})
