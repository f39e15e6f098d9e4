import type { Cluster, ClusterService } from '../api/types'

/** Offered is a Service with the clusters that have it. */
export interface Offered {
  service: string // namespace/name
  clusters: string[]
  targets: string[]
}

/** offeredBy joins the Services of clusters, those that lead somewhere first. Kubernetes' own are left out. */
export function offeredBy(lists: { cluster: string; items: ClusterService[] }[]): Offered[] {
  const found = new Map<string, Offered>()
  for (const { cluster, items } of lists) {
    for (const { namespace, name, targets } of items) {
      if (namespace.startsWith('kube-') || (namespace === 'default' && name === 'kubernetes')) continue
      const service = `${namespace}/${name}`
      const one = found.get(service) ?? { service, clusters: [], targets: [] }
      one.clusters.push(cluster)
      one.targets.push(...targets)
      found.set(service, one)
    }
  }
  return [...found.values()].sort((a, b) => Number(b.targets.length > 0) - Number(a.targets.length > 0) || (a.service < b.service ? -1 : 1))
}

const mostUnable = 6 // that are named

/** ableClusters divides clusters into those of which names may take Services, and others with the reason. */
export function ableClusters(known: { path: string; document: Pick<Cluster, 'spec'> }[]): { able: string[]; unable: string[] } {
  const reasonOf = ({ spec }: Pick<Cluster, 'spec'>) =>
    spec.uses && !spec.uses.includes('addresses') ? `for ${spec.uses.join(', ')} only` : spec.directory ? 'a directory' : ''
  const told = known.map(({ path, document }) => ({ path, reason: reasonOf(document) }))
  const unable = told.filter((c) => c.reason).map((c) => `${c.path} (${c.reason})`)
  const more = unable.length - mostUnable
  return { able: told.filter((c) => !c.reason).map((c) => c.path), unable: more > 0 ? [...unable.slice(0, mostUnable), `${more} more`] : unable }
}

/** labelOf says where a Service is and what leads to it. */
export const labelOf = ({ clusters, targets }: Offered) => `in ${clusters.join(', ')}${targets.length > 0 ? `: ${targets.slice(0, 3).join(' ')}${targets.length > 3 ? ' …' : ''}` : ', without an address of its own'}`

/** namespaceOf is the namespace of what is typed, once it is whole. */
export const namespaceOf = (typed: string) => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)\//.exec(typed.trim())?.[1] ?? ''

/** Asked is what clusters said of their Services: how many were asked, whether there may be more, which did not say, and whether the caller may list none. */
export interface Asked {
  offered: Offered[]
  asked: number
  more: boolean
  silent: string[]
  forbidden: boolean
}

/** serviceHint says what to type for a Service, and which of all clusters could not help. */
export function serviceHint({ offered, asked, more, silent, forbidden }: Asked, all: number): string {
  const from = offered.length > 0 ? `; ${offered.length.toLocaleString('en')} to choose from${more ? ', and more: type a namespace and /' : ''}` : ''
  const hint = `As namespace/name${from}.`
  if (forbidden) return `${hint} Your role does not let you list the Services of these clusters, so type the name.`
  if (silent.length === 0) return hint
  if (offered.length === 0) return `${hint} None of the ${asked < all ? `first ${asked} ` : ''}clusters lists its Services now, so type the name.`
  return `${hint} ${silent.length > 3 ? `${silent.length} of the ${asked} clusters asked` : silent.join(', ')} cannot list Services now.`
}
