import { afterEach, expect, test, vi } from 'vitest'
import { json, serve, shown, until } from '../testing'
import { TroubleScreen } from './trouble'

afterEach(() => vi.unstubAllGlobals())

const reason = 'there is no Service shop/web on edge/berlin: create it there, or correct the Service or the clusters of the name'
const name = { name: 'help.example', project: 'shop', owner: 'projects/shop/names/help.example', provider: 'lab', scope: 'public', externalDNS: [], clusters: ['edge/berlin'], state: 'Instantiated', published: 'False', verified: 'Unknown', reason }

test('trouble says of a name without an address what is missing, and what to do', async () => {
  serve(({ pathname, searchParams: q }) => {
    const found = pathname.endsWith('/v2/names') && q.get('state') !== 'Failed' && q.get('verified') !== 'False'
    return json(found ? { items: [name], total: 1, hosts: 1, asOf: { revision: 1, time: '' } } : { items: [], total: 0, hosts: 0, counts: {}, groups: {}, names: {} })
  })
  const { root, close } = shown(<TroubleScreen />)
  await until(() => expect(root.textContent).toContain(reason))
  expect(root.textContent).toContain('The name has no address, or the publisher has not put it through.')
  expect(root.querySelector('#refused')?.closest('.card')?.textContent ?? '').toContain('A request that the API refuses at once is in no event')
  close()
})

test('a held removal leads to the plan that has the name go', async () => {
  const held = { kind: 'held', owner: 'projects/shop/names/help.example', provider: 'lab', names: 1, since: '2026-11-01T00:00:00Z' }
  serve(({ pathname }) => json(pathname.endsWith('/v2/troubles') ? { items: [held], counts: { held: 1 } } : { items: [], total: 0, hosts: 0, counts: {}, groups: {}, names: {} }))
  const { root, close } = shown(<TroubleScreen />)
  await until(() => expect(root.querySelector('#held')?.closest('.card')?.querySelector('a.button')?.getAttribute('href')).toBe('#/plan?owner=projects%2Fshop%2Fnames%2Fhelp.example&for=delete'))
  close()
})

test('held names of one reason are one entry, with the plan of each', async () => {
  const held = (name: string, message: string) => ({ kind: 'held', project: 'shop', owner: `projects/shop/names/${name}.example`, provider: 'lab', names: 1, message, since: '2026-11-01T00:00:00Z' })
  const items = [held('a', reason), held('b', 'another'), held('c', reason)]
  serve(({ pathname }) => json(pathname.endsWith('/v2/troubles') ? { items, counts: { held: 3 } } : { items: [], total: 0, hosts: 0, counts: {}, groups: {}, names: {} }))
  const { root, close } = shown(<TroubleScreen />)
  await until(() => expect(root.querySelector('#held')?.closest('.card')?.querySelectorAll('a.button')).toHaveLength(3))
  const entries = [...(root.querySelector('#held')?.closest('.card')?.querySelectorAll('.section > ul > li') ?? [])].map((entry) => entry.textContent)
  expect(entries).toHaveLength(2)
  expect(entries[0]).toMatch(/^2 names by lab of shop.*a\.example.*c\.example/)
  expect(entries[0]?.split(reason)).toHaveLength(2)
  expect(entries[1]).toContain('b.example')
  close()
})
