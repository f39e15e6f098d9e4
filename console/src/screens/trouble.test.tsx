import { afterEach, expect, test, vi } from 'vitest'
import { json, serve, shown } from '../testing'
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
  await vi.waitFor(() => expect(root.textContent).toContain(reason))
  expect(root.textContent).toContain('The name has no address, or the publisher has not put it through.')
  expect(root.querySelector('#refused')?.closest('.card')?.textContent ?? '').toContain('A request that the API refuses at once is in no event')
  close()
})
