import { useQuery, useQueryClient } from '@tanstack/react-query'
import { namesOf, type Kind } from '../lib/trouble'
import { api, ask, request } from './client'
import { live } from './events'
import { caller } from './session'
import type { FoundNamePage, TroublePage } from './types'

/** readNames reads the names of a kind of trouble. */
export const readNames = (kind: Kind, signal: AbortSignal) => namesOf(kind, (query) => request<FoundNamePage>('GET', '/v2/names', { query, signal }))

const urgent: Kind[] = ['failed', 'unpublished', 'foreign']

/** useTroubleCount counts what needs somebody: clusters and publishers that fail, conflicts, held removals, and names that are wrong. It counts what two readings in a row have: a name that changes is wrong for a moment. It is undefined until it is known. */
export function useTroubleCount(): number | undefined {
  const client = useQueryClient()
  const queryKey = ['trouble-count', caller.value?.subject]
  return useQuery({
    queryKey,
    enabled: caller.value !== null && live.value !== 'connecting', // the page itself comes first
    refetchInterval: 15_000,
    retry: false,
    meta: { live: false },
    queryFn: async ({ signal }) => {
      const [failing, troubles, ...names] = await Promise.all([
        ask(api.GET('/v2/fleet', { params: { query: { limit: 1000, healthy: 'False' } }, signal })),
        request<TroublePage>('GET', '/v2/troubles', { query: { limit: '1' }, signal }),
        ...urgent.map((kind) => readNames(kind, signal)),
      ])
      const now = failing.items.length + (troubles.counts['conflict'] ?? 0) + (troubles.counts['held'] ?? 0) + names.reduce((sum, { n }) => sum + n, 0)
      const before = client.getQueryData<{ now: number }>(queryKey)?.now ?? now
      return { now, lasting: Math.min(before, now) }
    },
  }).data?.lasting
}
