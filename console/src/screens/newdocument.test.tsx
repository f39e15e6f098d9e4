import type { ComponentType } from 'preact'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { json, serve, shown, until } from '../testing'
import type { ClusterForm as Clusters } from './addcluster'
import type { ProviderForm as Providers } from './addprovider'

let ClusterForm: typeof Clusters
let ProviderForm: typeof Providers
let saves = 0

beforeAll(async () => {
  serve(({ pathname }, method) => {
    if (method === 'POST' && pathname.endsWith('/v2/plan')) return json({ documents: [], errors: [] })
    if (method !== 'PUT') return json({ items: [] })
    saves++
    if (pathname.endsWith('/dns-update-records/lab')) return json({ metadata: { name: 'lab', revision: 1 }, spec: {}, status: { warnings: [] } }, 201)
    return json({ status: 422, detail: 'the document has faults', errors: [{ pointer: '/spec/directory', detail: 'another cluster has it' }] }, 422)
  })
  ;({ ClusterForm } = await import('./addcluster')) // the client of the API keeps the fetch that it finds
  ;({ ProviderForm } = await import('./addprovider'))
})

afterAll(() => vi.unstubAllGlobals())

/** filled is a form on a page, with what a test does there. */
function filled(Form: ComponentType) {
  const { root, close } = shown(
    <main id="main" tabIndex={-1}>
      <Form />
    </main>,
    true,
  )
  const field = (label: string) => {
    const found = [...root.querySelectorAll('.field')].find((f) => f.querySelector('label')?.textContent === label)?.querySelector('input')
    if (!found) throw new Error(`there is no field ${label}`)
    return found
  }
  const type = (label: string, text: string) => {
    field(label).value = text
    field(label).dispatchEvent(new Event('input', { bubbles: true }))
  }
  return { root, close, field, type, button: () => root.querySelector<HTMLButtonElement>('button[type=submit]'), submit: () => root.querySelector('form')?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })) }
}

test('a form can be saved again after a refusal, as soon as its text has changed', async () => {
  const { root, type, button, submit, close } = filled(ClusterForm)
  root.querySelectorAll<HTMLInputElement>('input[type=radio]').forEach((r) => r.closest('label')?.textContent.includes('directory') && r.click())
  await until(() => type('Directory', '/srv/one'))
  await until(() => expect(root.textContent).toContain('It still needs a cluster provider, a name.'))
  type('Cluster provider', 'dc')
  type('Name', 'one')
  await until(() => expect(button()?.disabled).toBe(false))
  submit()
  await until(() => expect(root.textContent).toContain('another cluster has it'))
  expect([button()?.disabled, saves]).toEqual([true, 1])
  expect(root.textContent).toContain('some fields need a change')
  type('Directory', '/srv/two')
  await until(() => expect(button()?.disabled).toBe(false))
  expect(root.textContent).not.toContain('another cluster has it')
  close()
})

test('a stored document has the focus on its page, and leads to an empty form', async () => {
  const { root, field, type, button, submit, close } = filled(ProviderForm)
  type('Project', 'shop')
  type('Name', 'lab')
  await until(() => expect(button()?.disabled).toBe(false))
  submit()
  await until(() => expect(root.textContent).toContain('Provider lab is stored'))
  await until(() => expect(document.activeElement?.id).toBe('main'))
  ;[...root.querySelectorAll('button')].find((b) => b.textContent === 'Add another one')?.click()
  await until(() => expect([field('Name').value, field('Project').value]).toEqual(['', '']))
  close()
})
