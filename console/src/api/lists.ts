import { useQuery } from '@tanstack/react-query'
import { request } from './client'
import type { Cluster, Provider } from './types'

interface Page<T> {
  items: T[]
  continue?: string
}

const most = 5 // pages; who has more types the name

/** all reads a list, a page at a time. */
async function all<T>(path: string, signal: AbortSignal): Promise<T[]> {
  const items: T[] = []
  let next: string | undefined
  for (let i = 0; i < most; i++) {
    const page: Page<T> = await request<Page<T>>('GET', path, { query: { limit: '500', continue: next }, signal })
    items.push(...page.items)
    next = page.continue
    if (!next) break
  }
  return items
}

interface Named {
  metadata: { name: string }
}

/** useProjects lists the projects that the caller may read, by name. */
export const useProjects = () => useQuery({ queryKey: ['projects'], staleTime: 30_000, retry: false, queryFn: async ({ signal }) => (await all<Named>('/v2/projects', signal)).map((p) => p.metadata.name) })

/** useProviders lists the providers of a project. */
export const useProviders = (project: string) =>
  useQuery({ queryKey: ['providers', project], staleTime: 30_000, retry: false, enabled: project !== '', queryFn: ({ signal }) => all<Provider>(`/v2/projects/${encodeURIComponent(project)}/dns-update-records`, signal) })

export interface ClusterAt {
  path: string // provider/cluster
  document: Cluster
}

/** useClusters lists all clusters; only callers who may read them get any. */
export const useClusters = () =>
  useQuery({
    queryKey: ['clusters'],
    staleTime: 30_000,
    retry: false,
    queryFn: async ({ signal }): Promise<ClusterAt[]> => {
      const providers = await all<Named>('/v2/cluster-providers', signal)
      const found: ClusterAt[] = []
      for (const { metadata } of providers) {
        for (const document of await all<Cluster>(`/v2/cluster-providers/${encodeURIComponent(metadata.name)}/clusters`, signal)) found.push({ path: `${metadata.name}/${document.metadata.name}`, document })
      }
      return found
    },
  })
