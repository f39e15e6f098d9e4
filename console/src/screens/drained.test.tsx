import { afterEach, expect, test, vi } from 'vitest'
import { json, serve, shown, until } from '../testing'
import { TroubleScreen } from './trouble'

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

afterEach(() => vi.unstubAllGlobals())

test('trouble says of a drained cluster once what to do, and of an unreachable one since when', async () => {
  serve((asked) => json(bodyOf(asked)))
  const { root, close } = shown(<TroubleScreen />)
  await until(() => expect(root.textContent).toContain('a flood'))
  await until(() => expect(root.querySelector('time[datetime="2026-01-01T10:00:00Z"]')).not.toBeNull())
  const said = root.querySelector('#unpublished')?.closest('.card')?.textContent ?? root.textContent
  expect(said).toContain(`${reason}. Drained by olga`)
  expect(said).not.toContain('All its clusters are drained')
  close()
})
