import { afterEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { go } from '../lib/route'
import { json, serve, shown, until } from '../testing'
import { groupLink } from '../ui/subject'
import { GroupsScreen } from './groups'

afterEach(() => vi.unstubAllGlobals())

const group = { path: 'projects/one/composite-apps/shop/v1/deployment-intent-groups/prod', state: 'Instantiated', release: 1, names: 1, undeployed: 0 }

test('a project whose groups cannot be read is named beside the groups of others', async () => {
  serve(({ pathname }) => {
    if (pathname.includes('/projects/two/')) return json({ detail: 'the store is full' }, 500)
    if (pathname.includes('/projects/one/')) return json({ items: [group] })
    return json({ items: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }] })
  })
  const { root, close } = shown(<GroupsScreen />)
  await until(() => {
    expect(root.querySelector('table')?.textContent).toContain('one/shop/v1/prod')
    expect(root.querySelector('[role=alert]')?.textContent).toContain('The groups of two are not listed.')
    expect(root.querySelector('[role=alert]')?.textContent).toContain('the store is full')
  })
  close()
})

test('the owner of a name leads to its group, wherever in the project it is listed', async () => {
  const named = (name: string) => ({ ...group, path: `projects/one/composite-apps/shop/v1/deployment-intent-groups/${name}` })
  serve(({ pathname, searchParams }) => {
    if (searchParams.has('continue')) return json({ items: [named('prod'), named('other')] })
    return json(pathname.includes('deployment-intent-groups') ? { items: [named('first')], continue: 'more' } : { items: [{ metadata: { name: 'one' } }] })
  })
  go(groupLink(group.path), true)
  const { root, close } = shown(<GroupsScreen />)
  await until(() => expect([...root.querySelectorAll('tbody tr td:first-child')].map((cell) => cell.textContent)).toEqual(['one/shop/v1/prod']))
  close()
  go('#/', true)
})

test('a page of groups that cannot be read is asked for once, and the page says why', async () => {
  let asked = 0
  serve(({ pathname, searchParams }) => {
    if (searchParams.has('continue')) {
      asked++
      return json({ detail: 'the store is full' }, 500)
    }
    return json(pathname.includes('deployment-intent-groups') ? { items: [{ ...group, path: group.path.replace('prod', 'first') }], continue: 'more' } : { items: [{ metadata: { name: 'one' } }] })
  })
  go(groupLink(group.path), true)
  const { root, close } = shown(<GroupsScreen />)
  await until(() => expect(root.querySelector('[role=alert]')?.textContent).toContain('the store is full'))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(asked).toBe(1)
  close()
  go('#/', true)
})

/** openedBy shows the groups to a caller with roles in single projects, who may not list the projects. */
function openedBy(roles: { role: 'viewer' | 'operator'; project: string }[]) {
  serve(({ pathname }) => {
    const project = /projects\/([^/]+)\/deployment/.exec(pathname)?.[1]
    return project ? json({ items: [{ ...group, path: group.path.replace('/one/', `/${project}/`) }] }) : json({ status: 403, detail: 'oskar has rights only on project one' }, 403)
  })
  caller.value = { subject: 'oskar', roles }
  const { root, close: end } = shown(<GroupsScreen />)
  const offered = () => [...root.querySelectorAll('option')].map((o) => o.textContent)
  const close = () => {
    end()
    caller.value = null
  }
  return { root, offered, close }
}

test('a caller with rights in one project gets its groups at once', async () => {
  const { root, offered, close } = openedBy([{ role: 'operator', project: 'one' }])
  await until(() => expect(root.querySelector('table')?.textContent).toContain('one/shop/v1/prod'))
  expect([offered(), root.querySelector('select')?.value]).toEqual([['one'], 'one'])
  expect(root.textContent).not.toContain('does not allow')
  close()
})

test('a caller with rights in some projects chooses among these, and reads once which ones are only to look at', async () => {
  const { root, offered, close } = openedBy([{ role: 'viewer', project: 'two' }, { role: 'operator', project: 'one' }])
  await until(() => expect(root.querySelectorAll('tbody tr')).toHaveLength(2))
  expect(offered()).toEqual(['all', 'one', 'two'])
  expect(root.textContent.match(/You may look at [^.]*\./g)).toEqual(['You may look at the groups of two, not change them.'])
  close()
})
