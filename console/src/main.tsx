import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { Refusal } from './api/client'
import { canRedirect, finish, redirect, returning } from './api/oidc'
import { base, needed, setBearer, settings, type Settings } from './api/session'
import { parse, route } from './lib/route'
import { App } from './app'
import './style.css'

/** again tells whether a question is worth another try: what the server refuses is not. */
const again = (failures: number, error: unknown) => failures < 20 && error instanceof Refusal && [0, 429, 502, 503, 504].includes(error.status)

const client = new QueryClient({
  queryCache: new QueryCache(),
  defaultOptions: {
    queries: {
      retry: again,
      retryDelay: (failures, error) => Math.max(error instanceof Refusal ? error.retryAfter * 1000 : 0, Math.min(10_000, 400 * 2 ** failures)),
      staleTime: 1000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

async function begin() {
  try {
    const answer = await fetch(`${base}/ui/settings.json`, { cache: 'no-store' })
    if (answer.ok) settings.value = (await answer.json()) as Settings
  } catch {
    // The first question to the API shows that the server is away.
  }
  if (returning()) {
    try {
      setBearer(await finish(settings.value))
      route.value = parse(location.hash)
    } catch (error) {
      needed.value = { why: `The issuer has not signed you in: ${error instanceof Error ? error.message : String(error)}` }
    }
  } else if (canRedirect(settings.value)) {
    await redirect(settings.value)
    return
  }
  const place = document.getElementById('app')
  if (!place) return
  render(
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>,
    place,
  )
}

void begin()
