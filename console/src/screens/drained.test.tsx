import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, type ComponentChildren } from 'preact'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

let TroubleScreen: () => ComponentChildren

const reason = 'edge/berlin is drained: undrain it, or give the name another cluster'
const name = { name: 'help.example', project: 'shop', owner: 'projects/shop/names/help.example', provider: 'lab', scope: 'public', externalDNS: [], clusters: ['edge/berlin'], state: 'Instantiated', published: 'False', verified: 'Unknown', reason }
const lost = { kind: 'cluster', cluster: 'edge/oslo', healthy: 'False', message: 'no answer in time', unreachableSince: '2026-01-01T10:00:00Z', pending: 0, hosts: { total: 2, unpublished: 0, unverified: 0 } }
const berlin = { metadata: { name: 'berlin' }, spec: {}, status: { drained: { since: '2026-01-01T09:00:00Z', actor: 'olga', reason: 'a flood' } } }

/** bodyOf is what a server with a drained and a lost cluster answers. */
function bodyOf({ pathname, searchParams }: URL): unknown {
  if (pathname.endsWith('/v2/names') && searchParams.get('state') !== 'Failed' && searchParams.get('verified') !== 'False') return { items: [name], total: 1, hosts: 1, asOf: { revision: 1, time: '' } }
  if (pathname.endsWith('/fleet')) return { hosts: lost.hosts, groups: {}, names: {}, items: [lost], asOf: { revision: 1, time: '' } }
  if (pathname.endsWith('/cluster-providers')) return { items: [{ metadata: { name: 'edge' } }] }
  return { items: pathname.endsWith('/clusters') ? [berlin] : [], total: 0, hosts: 0, counts: {}, groups: {}, names: {} }
}

beforeAll(async () => {
  vi.stubGlobal('fetch', (asked: string | Request) => Promise.resolve(new Response(JSON.stringify(bodyOf(new URL(typeof asked === 'string' ? asked : asked.url))), { headers: { 'Content-Type': 'application/json' } })))
  ;({ TroubleScreen } = await import('./trouble')) // the client of the API keeps the fetch that it finds
})

afterAll(() => vi.unstubAllGlobals())

test('trouble says of a drained cluster once what to do, and of an unreachable one since when', async () => {
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(
    <QueryClientProvider client={client}>
      <TroubleScreen />
    </QueryClientProvider>,
    root,
  )
  await vi.waitFor(() => expect(root.textContent).toContain('a flood'))
  await vi.waitFor(() => expect(root.querySelector('time[datetime="2026-01-01T10:00:00Z"]')).not.toBeNull())
  const said = root.querySelector('#unpublished')?.closest('.card')?.textContent ?? root.textContent
  expect(said).toContain(`${reason}. Drained by olga`)
  expect(said).not.toContain('All its clusters are drained')
  render(null, root)
  client.clear()
})
