import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { afterEach, expect, test, vi } from 'vitest'
import { TroubleScreen } from './trouble'

afterEach(() => vi.unstubAllGlobals())

const reason = 'there is no Service shop/web on edge/berlin: create it there, or correct the Service or the clusters of the name'
const name = { name: 'help.example', project: 'shop', owner: 'projects/shop/names/help.example', provider: 'lab', scope: 'public', externalDNS: [], clusters: ['edge/berlin'], state: 'Instantiated', published: 'False', verified: 'Unknown', reason }
test('trouble says of a name without an address what is missing, and what to do', async () => {
  vi.stubGlobal('fetch', (asked: string | Request) => {
    const url = typeof asked === 'string' ? asked : asked.url
    const found = /[/]v2[/]names([?]|$)/.test(url) && !url.includes('state=Failed') && !url.includes('verified=False')
    const body = found ? { items: [name], total: 1, hosts: 1, asOf: { revision: 1, time: '' } } : { items: [], total: 0, hosts: 0, counts: {}, groups: {}, names: {} }
    return Promise.resolve(new Response(JSON.stringify(body), { status: 200, headers: { 'Content-Type': 'application/json' } }))
  })
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <TroubleScreen />
    </QueryClientProvider>,
    root,
  )
  await vi.waitFor(() => expect(root.textContent).toContain(reason))
  expect(root.textContent).toContain('The name has no address, or the publisher has not put it through.')
  render(null, root)
  client.clear()
})
