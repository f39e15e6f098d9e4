import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, type ComponentChildren } from 'preact'
import { vi } from 'vitest'

/** json is an answer of the server. */
export const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })

/** serve answers what screens ask for, in place of a server. */
export const serve = (answer: (asked: URL, method: string, init?: RequestInit) => Response) => vi.stubGlobal('fetch', (asked: string | Request, init?: RequestInit) => Promise.resolve(typeof asked === 'string' ? answer(new URL(asked, 'http://localhost'), init?.method ?? 'GET', init) : answer(new URL(asked.url), asked.method)))

/** until waits until an expectation holds; patiently, as machines may be slow. */
export const until = <T,>(holds: () => T) => vi.waitFor(holds, 20_000)

/** shown is a screen in an element of its own, until it is closed. On the page, clicks change it and it can have the focus. */
export function shown(screen: ComponentChildren, onPage = false) {
  const root = document.createElement('div')
  if (onPage) document.body.append(root)
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } } })
  render(<QueryClientProvider client={client}>{screen}</QueryClientProvider>, root)
  const close = () => {
    render(null, root)
    root.remove()
    client.clear()
  }
  return { root, client, close }
}
