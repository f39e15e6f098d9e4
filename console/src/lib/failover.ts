/** The shapes of failovers, as openapi.yaml has them. */
export interface Selection {
  clusters?: string[]
  labels?: Record<string, string>
}

export interface Spec {
  drain?: Selection
  undrain?: Selection
  reason?: string
}

export interface Moved {
  name: string
  type: string
  project: string
  owner: string
  provider: string
  before: string[]
  after: string[]
  left?: 'none' | 'one' | 'unhealthy'
  stays?: string
  published?: string
  answered?: string
  cachesUntil?: string
  message?: string
}

export interface Counts {
  names: number
  stay: number
  one: number
  none: number
  unhealthy: number
}

export interface Preview {
  token: string
  drain: string[]
  undrain: string[]
  unchanged: string[]
  counts: Counts
  names: Moved[]
  namesLeftOut?: number
  refusals: { rule?: string; project?: string; detail: string; allow: string }[]
  warnings: string[]
  cachesFor?: string
}

export interface Failover {
  id: string
  time: string
  actor: string
  reason?: string
  drained: string[]
  undrained: string[]
  revertOf?: string
  revertedBy?: string
  state: 'Moving' | 'Done' | 'Superseded' | 'Unconfirmed' | 'Failed'
  message?: string
  counts: Counts
  answered: number
  names: Moved[]
  namesLeftOut?: number
  ended?: string
  cachesUntil?: string
}

/** Choice is what a user has chosen at the desk. */
export interface Choice {
  clusters: string[]
  labels: string
  verb: 'drain' | 'undrain'
  reason: string
}

/** specOf is the request that a choice makes; undefined while nothing is chosen. */
export function specOf(choice: Choice): Spec | undefined {
  const labels = Object.fromEntries(
    choice.labels
      .split(/[\s,]+/)
      .filter((word) => word.includes('='))
      .map((word) => [word.split('=')[0]!, word.split('=').slice(1).join('=')]),
  )
  const selection: Selection = { ...(choice.clusters.length > 0 ? { clusters: choice.clusters } : {}), ...(Object.keys(labels).length > 0 ? { labels } : {}) }
  if (Object.keys(selection).length === 0) return undefined
  return { [choice.verb]: selection, ...(choice.reason.trim() ? { reason: choice.reason.trim() } : {}) }
}

/** progress is how much of a failover is answered, from 0 to 1. */
export const progress = (r: Pick<Failover, 'answered' | 'counts'>) => (r.counts.names === 0 ? 1 : Math.min(1, r.answered / r.counts.names))

/** danger says what a name is left with; empty for none. */
export const danger = (m: Pick<Moved, 'left'>) => (m.left === 'none' ? 'no address is left' : m.left === 'one' ? 'one address is left' : m.left === 'unhealthy' ? 'only unhealthy clusters are left' : '')
