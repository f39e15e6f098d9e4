import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { afterEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { go } from '../lib/route'
import { groupLink } from '../ui/subject'
import { GroupsScreen } from './groups'

afterEach(() => vi.unstubAllGlobals())

const group = { path: 'projects/one/composite-apps/shop/v1/deployment-intent-groups/prod', state: 'Instantiated', release: 1, names: 1, undeployed: 0 }

test('a project whose groups cannot be read is named beside the groups of others', async () => {
  vi.stubGlobal('fetch', (asked: string | Request) => {
    const url = typeof asked === 'string' ? asked : asked.url
    const answer = (status: number, body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }))
    if (url.includes('/projects/two/')) return answer(500, { detail: 'the store is full' })
    if (url.includes('/projects/one/')) return answer(200, { items: [group] })
    return answer(200, { items: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }] })
  })
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <GroupsScreen />
    </QueryClientProvider>,
    root,
  )
  await vi.waitFor(() => {
    expect(root.querySelector('table')?.textContent).toContain('one/shop/v1/prod')
    expect(root.querySelector('[role=alert]')?.textContent).toContain('The groups of two are not listed.')
    expect(root.querySelector('[role=alert]')?.textContent).toContain('the store is full')
  })
  render(null, root)
  client.clear()
})

test('the owner of a name leads to its group, wherever in the project it is listed', async () => {
  const named = (name: string) => ({ ...group, path: `projects/one/composite-apps/shop/v1/deployment-intent-groups/${name}` })
  vi.stubGlobal('fetch', (asked: string | Request) => {
    const url = typeof asked === 'string' ? asked : asked.url
    const body = url.includes('continue=') ? { items: [named('prod'), named('other')] } : url.includes('deployment-intent-groups') ? { items: [named('first')], continue: 'more' } : { items: [{ metadata: { name: 'one' } }] }
    return Promise.resolve(new Response(JSON.stringify(body), { status: 200, headers: { 'Content-Type': 'application/json' } }))
  })
  go(groupLink(group.path), true)
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <GroupsScreen />
    </QueryClientProvider>,
    root,
  )
  await vi.waitFor(() => expect([...root.querySelectorAll('tbody tr td:first-child')].map((cell) => cell.textContent)).toEqual(['one/shop/v1/prod']))
  render(null, root)
  client.clear()
  go('#/', true)
})

/** openedBy shows the groups to a caller with roles in single projects, who may not list the projects. */
function openedBy(roles: { role: 'viewer' | 'operator'; project: string }[]) {
  vi.stubGlobal('fetch', (asked: string | Request) => {
    const url = typeof asked === 'string' ? asked : asked.url
    const project = /projects\/([^/]+)\/deployment/.exec(url)?.[1]
    const [body, status] = project ? [{ items: [{ ...group, path: group.path.replace('/one/', `/${project}/`) }] }, 200] : [{ status: 403, detail: 'oskar has rights only on project one' }, 403]
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }))
  })
  caller.value = { subject: 'oskar', roles }
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <GroupsScreen />
    </QueryClientProvider>,
    root,
  )
  const offered = () => [...root.querySelectorAll('option')].map((o) => o.textContent)
  const close = () => {
    render(null, root)
    client.clear()
    caller.value = null
  }
  return { root, offered, close }
}

test('a caller with rights in one project gets its groups at once', async () => {
  const { root, offered, close } = openedBy([{ role: 'operator', project: 'one' }])
  await vi.waitFor(() => expect(root.querySelector('table')?.textContent).toContain('one/shop/v1/prod'))
  expect([offered(), root.querySelector('select')?.value]).toEqual([['one'], 'one'])
  expect(root.textContent).not.toContain('does not allow')
  close()
})

test('a caller with rights in some projects chooses among these, and reads once which ones are only to look at', async () => {
  const { root, offered, close } = openedBy([{ role: 'viewer', project: 'two' }, { role: 'operator', project: 'one' }])
  await vi.waitFor(() => expect(root.querySelectorAll('tbody tr')).toHaveLength(2))
  expect(offered()).toEqual(['all', 'one', 'two'])
  expect(root.textContent.match(/You may look at [^.]*\./g)).toEqual(['You may look at the groups of two, not change them.'])
  close()
})
