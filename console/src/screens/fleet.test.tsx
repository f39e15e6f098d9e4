import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { afterEach, expect, test, vi } from 'vitest'
import { FleetScreen } from './fleet'

afterEach(() => vi.unstubAllGlobals())

const hosts = { total: 1, unpublished: 0, unverified: 0 }
const one = { kind: 'cluster', cluster: 'edge/one', healthy: 'True', drained: true, pending: 0, hosts }

test('the fleet counts the clusters without names, too, and no ellipsis stands for what has ended', async () => {
  vi.stubGlobal('fetch', (asked: string | Request) => {
    const url = typeof asked === 'string' ? asked : asked.url
    const answer = (body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status: 200, headers: { 'Content-Type': 'application/json' } }))
    if (url.includes('/v2/fleet')) return answer({ items: [one], hosts, groups: {}, names: {} })
    if (url.includes('/edge/clusters')) return answer({ items: ['one', 'two'].map((name) => ({ metadata: { name }, spec: { directory: name } })) })
    return answer({ items: [{ metadata: { name: 'edge' } }] })
  })
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <FleetScreen />
    </QueryClientProvider>,
    root,
  )
  await vi.waitFor(() => expect(root.textContent).toContain('2 clusters, 1 without names'))
  expect(root.querySelectorAll('tbody tr')).toHaveLength(1)
  expect(root.querySelector('#unused')?.closest('section')?.textContent).toContain('edge/two')
  expect(root.querySelector('tbody')?.textContent).toContain('!drained')
  expect(root.textContent).not.toContain('…')
  render(null, root)
  client.clear()
})
