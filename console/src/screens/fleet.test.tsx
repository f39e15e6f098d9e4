import { afterEach, expect, test, vi } from 'vitest'
import { json, serve, shown, until } from '../testing'
import { ClusterScreen } from './cluster'
import { FleetScreen } from './fleet'

afterEach(() => vi.unstubAllGlobals())

const hosts = { total: 1, unpublished: 0, unverified: 0 }
const one = { kind: 'cluster', cluster: 'edge/one', healthy: 'True', drained: true, pending: 0, hosts }

test('the fleet counts the clusters without names, too, and no ellipsis stands for what has ended', async () => {
  serve(({ pathname }) => {
    if (pathname.includes('/v2/fleet')) return json({ items: [one], hosts, groups: {}, names: {} })
    if (pathname.includes('/edge/clusters')) return json({ items: ['one', 'two'].map((name) => ({ metadata: { name }, spec: { directory: name } })) })
    return json({ items: [{ metadata: { name: 'edge' } }] })
  })
  const { root, close } = shown(<FleetScreen />)
  await until(() => expect(root.textContent).toContain('2 clusters, 1 without names'))
  expect(root.querySelectorAll('tbody tr')).toHaveLength(1)
  expect(root.querySelector('#unused')?.closest('section')?.textContent).toContain('edge/two')
  expect(root.querySelector('tbody')?.textContent).toContain('!drained')
  expect(root.textContent).not.toContain('…')
  close()
})

const lost = { kind: 'cluster', cluster: 'edge/oslo', healthy: 'False', message: 'no answer in time', unreachableSince: '2026-01-01T10:00:00Z', pending: 0, hosts }

test('the fleet and the page of a cluster say since when it does not answer, and no lag that nobody knows', async () => {
  serve(({ pathname }) => json(pathname.includes('/v2/fleet') ? { items: [lost], hosts, groups: {}, names: {} } : { items: [], total: 0, checks: [], metadata: { name: 'oslo' }, spec: {} }))
  const pages = [shown(<FleetScreen />), shown(<ClusterScreen path="edge/oslo" />)]
  for (const { root } of pages) await until(() => expect(root.querySelector('time[datetime="2026-01-01T10:00:00Z"]')).not.toBeNull())
  expect(pages[0]?.root.querySelector('tbody td:nth-child(6)')?.textContent).toBe('–')
  for (const { close } of pages) close()
})

test('built-in providers are shown although no cluster has names', async () => {
  const item = { kind: 'externalDNS', cluster: 'built-in', project: 'shop', provider: 'own', scope: 'public', healthy: 'False', message: 'no server answers', pending: 0, hosts }
  serve(({ pathname }) => json(pathname.includes('/v2/fleet') ? { items: [item], hosts, groups: {}, names: {} } : { items: [] }))
  const { root, close } = shown(<FleetScreen />)
  await until(() => expect(root.querySelector('#built-in')?.closest('section')?.textContent).toContain('shop/own'))
  expect(root.textContent).toContain('no server answers')
  close()
})
