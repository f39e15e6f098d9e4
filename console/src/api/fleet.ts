import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, ask } from './client'
import type { Fleet } from './types'

const most = 1000 // clusters and external-dns of a page

/** useFleet reads how clusters and external-dns do, a page of them. */
export const useFleet = () =>
  useInfiniteQuery({
    queryKey: ['fleet'],
    initialPageParam: '',
    refetchInterval: 10_000,
    queryFn: ({ pageParam, signal }) => ask(api.GET('/v2/fleet', { params: { query: { limit: most, ...(pageParam ? { continue: pageParam } : {}) } }, signal })),
    getNextPageParam: (last: Fleet) => last.continue,
  })

/** useFailing reads which clusters cannot be reached, and which external-dns are not available. */
export const useFailing = () =>
  useQuery({
    queryKey: ['fleet', 'failing'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => ask(api.GET('/v2/fleet', { params: { query: { limit: most, healthy: 'False' } }, signal })),
  })
