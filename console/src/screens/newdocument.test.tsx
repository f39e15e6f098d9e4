import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ClusterForm as Form } from './addcluster'

let ClusterForm: typeof Form
let saves = 0

beforeAll(async () => {
  vi.stubGlobal('fetch', (asked: string | Request, init?: RequestInit) => {
    const answer = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }))
    const [url, method] = typeof asked === 'string' ? [asked, init?.method] : [asked.url, asked.method]
    if (method === 'POST' && url.endsWith('/v2/plan')) return answer({ documents: [], errors: [] })
    if (method !== 'PUT') return answer({ items: [] })
    saves++
    return answer({ status: 422, detail: 'the document has faults', errors: [{ pointer: '/spec/directory', detail: 'another cluster has it' }] }, 422)
  })
  ;({ ClusterForm } = await import('./addcluster')) // the client of the API keeps the fetch that it finds
})

afterAll(() => vi.unstubAllGlobals())

test('a form can be saved again after a refusal, as soon as its text has changed', async () => {
  const root = document.body.appendChild(document.createElement('div')) // else a click changes nothing
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <ClusterForm />
    </QueryClientProvider>,
    root,
  )
  const type = (label: string, text: string) => {
    const field = [...root.querySelectorAll('.field')].find((f) => f.querySelector('label')?.textContent === label)?.querySelector('input')
    if (!field) throw new Error(`there is no field ${label}`)
    field.value = text
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const button = () => root.querySelector<HTMLButtonElement>('button[type=submit]')
  root.querySelectorAll<HTMLInputElement>('input[type=radio]').forEach((r) => r.closest('label')?.textContent.includes('directory') && r.click())
  await vi.waitFor(() => type('Directory', '/srv/one'))
  await vi.waitFor(() => expect(root.textContent).toContain('It still needs a cluster provider, a name.'))
  type('Cluster provider', 'dc')
  type('Name', 'one')
  await vi.waitFor(() => expect(button()?.disabled).toBe(false), 3000)
  root.querySelector('form')?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
  await vi.waitFor(() => expect(root.textContent).toContain('another cluster has it'))
  expect([button()?.disabled, saves]).toEqual([true, 1])
  expect(root.textContent).toContain('some fields need a change')
  type('Directory', '/srv/two')
  await vi.waitFor(() => expect(button()?.disabled).toBe(false), 3000)
  expect(root.textContent).not.toContain('another cluster has it')
  render(null, root)
  root.remove()
  client.clear()
})
