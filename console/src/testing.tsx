import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, type ComponentChildren } from 'preact'
import { vi } from 'vitest'

/** json is an answer of the server. */
export const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })

/** serve answers what screens ask for, in place of a server. */
export const serve = (answer: (asked: URL) => Response) => vi.stubGlobal('fetch', (asked: string | Request) => Promise.resolve(answer(new URL(typeof asked === 'string' ? asked : asked.url))))

/** shown is a screen in an element of its own, until it is closed. */
export function shown(screen: ComponentChildren) {
  const root = document.createElement('div')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  render(<QueryClientProvider client={client}>{screen}</QueryClientProvider>, root)
  const close = () => {
    render(null, root)
    client.clear()
  }
  return { root, close }
}
