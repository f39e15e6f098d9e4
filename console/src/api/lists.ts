import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { api, ask, Refusal, request } from './client'
import { caller, may, ownProjects } from './session'
import { offeredBy, type Asked } from '../lib/services'
import type { Cluster, GroupSummary, GroupSummaryPage, Provider, ServicePage } from './types'

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

/** useProjects lists the projects that the caller may read, by name: those of its roles, if it has rights only in some. */
export function useProjects() {
  const own = ownProjects(caller.value)
  return useQuery({ queryKey: ['projects', own], staleTime: 30_000, retry: false, queryFn: async ({ signal }) => own ?? (await all<Named>('/v2/projects', signal)).map((p) => p.metadata.name) })
}

/** useProject reads a project, if the caller may. */
export const useProject = (name: string) =>
  useQuery({ queryKey: ['project', name], staleTime: 60_000, retry: false, queryFn: ({ signal }) => ask(api.GET('/v2/projects/{project}', { params: { path: { project: name } }, signal })) })

/** useOwnProjects lists the projects too, and those of them in which the caller may publish. */
export function useOwnProjects() {
  const projects = useProjects()
  return { projects, mine: (projects.data ?? []).filter((p) => may(caller.value, 'editor', p)) }
}

/** useProviders lists the providers of a project. */
export const useProviders = (project: string) =>
  useQuery({ queryKey: ['providers', project], staleTime: 30_000, retry: false, enabled: project !== '', queryFn: ({ signal }) => all<Provider>(`/v2/projects/${encodeURIComponent(project)}/dns-update-records`, signal) })

/** useGroupsOfAll lists the first deployment intent groups of some projects, so many of each. more are the projects that have others, unread those that could not be read. */
export function useGroupsOfAll(projects: string[], each = '50'): { groups: GroupSummary[]; more: string[]; unread: string[]; error: unknown; reading: boolean } {
  const pages = useQueries({
    queries: projects.map((project) => ({
      queryKey: ['groups', project, 'first', each],
      refetchInterval: 15_000,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => request<GroupSummaryPage>('GET', `/v2/projects/${encodeURIComponent(project)}/deployment-intent-groups`, { query: { limit: each }, signal }),
    })),
  })
  return {
    groups: pages.flatMap((p) => p.data?.items ?? []),
    more: projects.filter((_, n) => pages[n]?.data?.continue),
    unread: projects.filter((_, n) => pages[n]?.error && !pages[n].data),
    error: pages.find((p) => p.error && !p.data)?.error,
    reading: pages.some((p) => !p.data && !p.error),
  }
}

/** useGroups lists the deployment intent groups of a project, a page of them. */
export const useGroups = (project: string) =>
  useInfiniteQuery({
    queryKey: ['groups', project],
    initialPageParam: '',
    refetchInterval: 10_000,
    retry: false,
    enabled: project !== '',
    queryFn: ({ pageParam, signal }) => ask(api.GET('/v2/projects/{project}/deployment-intent-groups', { params: { path: { project }, query: pageParam ? { continue: pageParam } : {} }, signal })),
    getNextPageParam: (last) => last.continue,
  })

export interface ClusterAt {
  path: string // provider/cluster
  document: Cluster
}

/** useClusters lists all clusters, if enabled; only callers who may read them get any. */
export const useClusters = (enabled = true) =>
  useQuery({
    queryKey: ['clusters'],
    enabled,
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

const mostAsked = 8 // clusters that are asked for their Services

/** useServices lists the Services of the first clusters, in a namespace or all. */
export function useServices(clusters: string[], namespace: string): Asked {
  const asked = clusters.slice(0, mostAsked)
  const pages = useQueries({
    queries: asked.map((cluster) => ({
      queryKey: ['services', cluster, namespace],
      staleTime: 60_000,
      retry: false,
      meta: { live: false },
      queryFn: ({ signal }: { signal: AbortSignal }) => {
        const [provider, name] = cluster.split('/')
        return request<ServicePage>('GET', `/v2/cluster-providers/${encodeURIComponent(provider ?? '')}/clusters/${encodeURIComponent(name ?? '')}/services`, { query: { namespace, limit: '1000' }, signal })
      },
    })),
  })
  return {
    offered: offeredBy(asked.map((cluster, n) => ({ cluster, items: pages[n]?.data?.items ?? [] }))),
    asked: asked.length,
    more: clusters.length > mostAsked || pages.some((p) => p.data?.continue),
    silent: asked.filter((_, n) => pages[n]?.error || pages[n]?.data?.message),
    forbidden: pages.length > 0 && pages.every((p) => p.error instanceof Refusal && p.error.status === 403),
  }
}
