import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { caller } from '../api/session'
import { until } from '../testing'
import { PlanScreen } from './plan'

const group = 'projects/shop/composite-apps/store/v2/deployment-intent-groups/prod'
const document = `${group}/traffic-group-intents/front/dns-intents/www`
const change = (name: string, type: string, action: string, before: string[], targets: string[]) => ({ name, type, record: 'lab', action, before, targets })
const plan = {
  token: 't', objects: [], errors: [], warnings: ['names would be removed'],
  names: [change('www.example', 'A', 'update', ['192.0.2.1'], ['192.0.2.9']), change('www.example', 'AAAA', 'unchanged', ['2001:db8::1'], ['2001:db8::1']), change('new.example', 'A', 'create', [], ['192.0.2.3']), change('old.example', 'A', 'delete', ['192.0.2.4'], ['192.0.2.4']), change('old.example', 'AAAA', 'delete', ['2001:db8::4'], ['2001:db8::4'])],
}
const write = { time: '', actor: 'anna', action: 'replace', revision: 2, outcome: 'stored', message: 'changes /spec/ttl', path: document, before: { spec: { ttl: 300 } }, after: { spec: { ttl: 60 } } }

/** bodyOf is what a server answers that has 8 host names in 9 rows. */
function bodyOf(path: string): unknown {
  if (path.endsWith('/plan')) return plan
  if (path.endsWith('/status')) return { state: 'Instantiated', revision: 3, undeployed: [{ path: document, change: 'changed', revision: 1, current: 2 }] }
  if (path.endsWith('/events')) return { items: [{ ...write, actor: 'ben', revision: 1, before: undefined, after: { spec: { ttl: 300 } } }, write] } // the oldest first
  if (path.endsWith('/v2/names')) return { items: [], total: 9, hosts: 8, asOf: { revision: 1, time: '' } }
  return { metadata: { name: 'lab' }, spec: { provider: 'coredns' } }
}

let root: HTMLElement
const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })

beforeEach(() => {
  vi.stubGlobal('fetch', (asked: string | Request) => Promise.resolve(new Response(JSON.stringify(bodyOf(new URL(typeof asked === 'string' ? asked : asked.url).pathname)), { headers: { 'Content-Type': 'application/json' } })))
  caller.value = { subject: 'olga', roles: [{ role: 'operator' }] }
  root = window.document.createElement('div')
  show('update')
})

const show = (action: string) =>
  render(
    <QueryClientProvider client={client}>
      <PlanScreen owner={group} action={action} to={undefined} />
    </QueryClientProvider>,
    root,
  )

afterEach(() => {
  render(null, root)
  client.clear()
  vi.unstubAllGlobals()
})

test('the plan of a group says what the group is, then which names change from what to what, then why', async () => {
  await until(() => expect(root.textContent).toContain('300'))
  const said = root.textContent
  expect(said).toContain('Group prod deploys version v2 of app store in project shop. It is Instantiated, with release 3. Of 3 host names, 1 is new, 1 changes, 1 goes.')
  const order = ['Of 3 host names', '192.0.2.1', '192.0.2.9', 'names would be removed', 'Why: 1 document changed', 'traffic-group-intents/front/dns-intents/www'].map((part) => said.indexOf(part))
  expect(order).toEqual([...order].sort((a, b) => a - b))
  expect(order).not.toContain(-1)
  expect(said).toContain('ttl: 300 → 60')
  expect(said).not.toContain('revision 1')
  expect([said.includes('anna'), said.includes('ben')]).toEqual([true, false]) // who wrote it last
})

test('the limit of removals counts host names, as the list of names does', async () => {
  await until(() => expect(root.textContent).toContain('maxRemoval'))
  expect(root.textContent).toContain('1 of 8 host names of the provider leaves it (13 %). Without a confirmation, at most 25 %')
  expect(root.textContent).toContain('Host names that change: 3 of 3')
  expect(root.textContent).toContain('A host name has a row for each type and provider: 4 rows.')
})

test('the end of a group has no limit of removals', async () => {
  show('terminate')
  await until(() => expect(root.textContent).toContain('1 of 8 host names of the provider leaves it (13 %). The limit of removals (maxRemoval) does not count for the end of a group.'))
  expect(root.querySelector('.meter .limit')).toBeNull()
})
