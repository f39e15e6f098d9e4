import type { Event, Plan } from '../api/types'
import { goes, hostsOf } from './plan'

const groupOf = (path: string) => /^projects\/[^/]+\/composite-apps\/[^/]+\/[^/]+\/deployment-intent-groups\/[^/]+/.exec(path)?.[0]

/** changedGroups are the groups of which a document has changed since they were last deployed, by events with the newest first. */
export function changedGroups(events: Event[]): string[] {
  const settled = new Set<string>()
  const changed = new Set<string>()
  for (const e of events) {
    const group = groupOf(e.path ?? '')
    if (!group) continue
    if (e.outcome === 'accepted' && e.path === group) settled.add(group)
    else if (['stored', 'deleted'].includes(e.outcome) && !settled.has(group)) changed.add(group)
  }
  return [...changed]
}

/** leaving are the names that a plan takes out of DNS. */
export const leaving = (plan: Plan) => [...new Set(plan.names.map((n) => n.name))].filter((host) => goes(plan, host))

/** touches tells whether a plan changes a name. */
export const touches = (plan: Plan, host: string) => hostsOf(plan.names.filter((n) => n.name === host && n.action !== 'unchanged')) > 0
