import { afterEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { json, serve, shown, until } from '../testing'
import { ChangesScreen } from './changes'
import { MoveRow } from './moverow'

const group = 'projects/shop/composite-apps/store/v1/deployment-intent-groups/prod'
const at = new Date().toISOString()
const event = (action: string, cluster: string, outcome: string, message: string) => ({ time: at, actor: 'olga', action, revision: 0, outcome, message, path: `cluster-providers/edge/clusters/${cluster}` })
const events = [
  event('undrain', 'berlin', 'accepted', 'failover two-fghij: reverts one-abcde'),
  event('drain', 'berlin', 'completed', 'failover one-abcde: Done, 1 of 1 names are answered'),
  event('undrain', 'boston', 'accepted', 'failover one-abcde: a flood'),
  event('drain', 'berlin', 'accepted', 'failover one-abcde: a flood'),
]
const moved = { name: 'www.example', type: 'A', project: 'shop', owner: group, provider: 'lab', before: ['192.0.2.1'], after: ['192.0.2.2'], clustersBefore: [], clustersAfter: [], homes: [] }
const record = { id: 'one-abcde', time: at, actor: 'olga', reason: 'a flood', drained: ['edge+berlin'], undrained: ['edge+boston'], state: 'Done', revertedBy: 'two-fghij', counts: { names: 1, stay: 0, one: 0, none: 0, unhealthy: 0 }, hosts: { moved: 1, answered: 1, none: 0, gone: 0, one: 0, unhealthy: 0, stay: 0 }, answered: 1, names: [moved] }

afterEach(() => vi.unstubAllGlobals())

/** textOf are the rows of the page. */
async function rowsOf(mayRead: boolean): Promise<string[]> {
  serve(({ pathname: path }) => {
    if (path.endsWith('/v2/events')) return json({ items: events })
    if (path.endsWith('/failovers/one-abcde') && mayRead) return json(record)
    if (path.includes('/failovers/')) return json({ status: 404, detail: 'there is none' }, 404)
    return json({ items: [], total: 0, hosts: 0 })
  })
  const { root, close } = shown(<ChangesScreen />)
  const rows = () => [...root.querySelectorAll('.log > li')].map((li) => li.textContent)
  await until(() => expect(rows().join()).toContain(mayRead ? '192.0.2.2' : 'Undone by'))
  const found = rows()
  close()
  return found
}

test('a failover is one row: its clusters, its reason, the names that it changed, and what undid it', async () => {
  const rows = await rowsOf(true)
  expect(rows).toHaveLength(2)
  for (const part of ['Failover of edge/berlin to edge/boston', 'by olga', 'Done', 'a flood', 'www.example', 'shop/store/v1/prod', '192.0.2.1', '192.0.2.2', '1 name changed', 'Undone by another failover']) expect(rows.join()).toContain(part)
  expect(rows.find((r) => r.includes('Undo: undrain of edge/berlin'))).toContain('It undoes an earlier failover')
})

test('a drain that a group follows names the cluster, and what is shown is counted', async () => {
  const followed = { ...event('drain', 'paris', 'completed', 'edge+paris is drained since 2026-11-01T12:00:00Z: public names have none of its addresses'), path: group, revision: 1 }
  serve(({ pathname }) => json({ items: pathname.endsWith('/v2/events') ? [followed] : [], total: 0, hosts: 0 }))
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelector('.log > li')?.textContent).toMatch(/Cluster edge\/paris drained by olga ✓completed release 1 of group shop\/store\/v1\/prod/))
  expect(root.querySelector('[role=status]')?.textContent).toBe('1 change')
  close()
})

/** paged serves so many pages of an event each, from the failover's end on, and notes which are asked for. */
function paged(pages: number, last: () => Response) {
  const asked: string[] = []
  serve(({ pathname, searchParams }) => {
    if (pathname.includes('/failovers/')) return json(record)
    if (!pathname.endsWith('/v2/events')) return json({ items: [], total: 0, hosts: 0 })
    const page = Number(searchParams.get('continue') ?? '')
    asked.push(String(page))
    return page < pages ? json({ items: [events[1]], continue: String(page + 1) }) : last()
  })
  return asked
}

test('a failover whose request is on a later page is read by its record, and no page for it', async () => {
  caller.value = { actor: 'olga', roles: [{ role: 'viewer' }] } as never
  const asked = paged(9, () => json({ items: [] }))
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelector('.log > li a')?.textContent).toBe('Failover of edge/berlin to edge/boston'))
  expect(root.querySelector('.log > li')?.textContent).toContain('Reason: a flood')
  expect(asked).toEqual(['0'])
  close()
  caller.value = null
})

test('a page that cannot be read is asked for once, and what was read is shown', async () => {
  location.hash = '#/changes?of=week'
  const asked = paged(1, () => json({ detail: 'the store is full' }, 400))
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelector('[role=alert]')?.textContent).toContain('the store is full'))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(asked).toEqual(['0', '1'])
  expect(root.querySelectorAll('.log > li')).toHaveLength(1)
  close()
  location.hash = '#/changes'
})

test('what the latest events do not have is looked for in earlier ones', async () => {
  location.hash = '#/changes?about=www.example'
  const wanted = { time: at, actor: 'anna', action: 'update', revision: 2, outcome: 'accepted', message: '', path: 'projects/shop/names/www.example' }
  const asked = paged(2, () => json({ items: [wanted], continue: '3' }))
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelector('.log > li')?.textContent).toContain('www.example'))
  expect(asked).toEqual(['0', '1', '2'])
  close()
  location.hash = '#/changes'
})

test('many pages are read again, too, but a page each 10 s at most', async () => {
  location.hash = '#/changes?of=week'
  const asked = paged(4, () => json({ items: [] }))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { close } = shown(<ChangesScreen />)
  await until(() => expect(asked).toHaveLength(5))
  await vi.advanceTimersByTimeAsync(40_000)
  expect(asked).toHaveLength(5)
  await vi.advanceTimersByTimeAsync(10_000)
  await until(() => expect(asked).toHaveLength(10))
  close()
  vi.useRealTimers()
  location.hash = '#/changes'
})

test('a removal that is held is no publication', async () => {
  const frozen = { time: at, actor: 'signpost', action: 'instantiate', revision: 1, outcome: 'frozen', message: 'it stays published', path: 'projects/shop/names/www.example' }
  serve(({ pathname }) => json({ items: pathname.endsWith('/v2/events') ? [frozen] : [], total: 0, hosts: 0 }))
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelector('.log > li')?.textContent).toMatch(/www\.example !removal held\s+it stays published$/))
  close()
})

test('a user with rights in one project reads why a failover has neither clusters nor a reason', () => {
  const said = (role: object) => {
    caller.value = { actor: 'olga', roles: [role] } as never
    const move = { id: 'one-abcde', time: at, actor: 'olga', drained: [], undrained: [], reason: '', revertOf: '', state: '', message: '', hosts: [], owners: [] }
    const { root, close } = shown(<MoveRow move={move} followers={['projects/shop/names/b.example', group, 'projects/shop/names/a.example']} undoneBy={undefined} first={false} about="" />)
    const text = root.textContent
    close()
    caller.value = null
    return text
  }
  expect(said({ role: 'operator', project: 'shop' })).toContain('Only users with rights in all projects see all its clusters and its reason.')
  expect(said({ role: 'operator', project: 'shop' })).toContain('1 group and 2 names followedgroup shop/store/v1/proda.exampleb.example')
  expect(said({ role: 'viewer' })).not.toContain('Only users')
})

test('only the latest of many failovers have their names read at once', async () => {
  const many = Array.from({ length: 20 }, (_, n) => event('drain', 'berlin', 'accepted', `failover f${n}-abcde: a flood`))
  const asked: string[] = []
  serve(({ pathname }) => {
    asked.push(pathname)
    return json(pathname.endsWith('/v2/events') ? { items: many } : { ...record, items: [] })
  })
  const { root, close } = shown(<ChangesScreen />)
  const records = () => new Set(asked.filter((path) => path.includes('/failovers/'))).size
  await until(() => expect([root.querySelectorAll('.log > li').length, records()]).toEqual([20, 6]))
  ;[...root.querySelectorAll<HTMLElement>('button')].find((b) => b.textContent.includes('Show the names that it changed'))?.click()
  await until(() => expect(records()).toBe(7))
  close()
})

test('a failover whose record cannot be read has what events tell of it', async () => {
  const rows = await rowsOf(false)
  expect(rows.find((r) => r.includes('Failover of edge/berlin to edge/boston'))).toContain('Reason: a flood')
})

test('a filter that hides all other changes says so, and an undo is found by the reason of what it undoes', async () => {
  const other = { ...event('replace', 'paris', 'stored', ''), path: 'cluster-providers/edge/clusters/paris' }
  serve(({ pathname }) => json(pathname.endsWith('/v2/events') ? { items: [...events, other] } : { ...record, items: [] }))
  location.hash = '#/changes?about=flood'
  const { root, close } = shown(<ChangesScreen />)
  await until(() => expect(root.querySelectorAll('.log > li')).toHaveLength(2))
  expect(root.textContent).toContain('Undo: undrain of edge/berlin')
  expect(root.textContent).toContain('No other request matches the filter.')
  expect(root.textContent).not.toContain('There are no earlier changes')
  location.hash = '#/changes?about=drought'
  await until(() => expect(root.textContent).toContain('No change fits.'))
  location.hash = '#/changes'
  await until(() => expect(root.textContent).toContain('There are no earlier changes.'))
  close()
})
