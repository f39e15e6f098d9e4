import type { NameChange, Plan } from '../api/types'
import { plural } from './text'

const ranks = { delete: 0, update: 1, create: 2, unchanged: 3 } as const

/** movesOf are the names of a plan that change, removals first. */
export const movesOf = (plan: Plan): NameChange[] => plan.names.filter((n) => n.action !== 'unchanged').sort((a, b) => ranks[a.action] - ranks[b.action] || (a.name < b.name ? -1 : 1))

/** Named is a DNS record of a host name. */
interface Named {
  name: string
  type?: string
}

/** hostOf is the host name that a record of a plan belongs to: an SRV record of a service has that of the others, as in the list of names. */
function hostOf({ name, type }: Named, all: Named[]): string {
  const host = name.replace(/^(?:_[^.]+[.])+/, '')
  return type === 'SRV' && host !== name && all.some((n) => n.name === host) ? host : name
}

/** hostsOf counts host names, each once whatever its types and providers are. all are those of the plan. */
export const hostsOf = (changes: Named[], all: Named[] = changes) => new Set(changes.map((c) => hostOf(c, all))).size

/** lacking says which Services of a plan no cluster has; empty for none. */
export const lacking = (plan: Pick<Plan, 'missingServices'>) => (plan.missingServices ?? []).join(', ')

const ttlWord = (ttl: number | undefined) => (ttl ? `${ttl} s` : 'the default')

/** ttlTold says which TTL a new name has, or how that of a name changes that stays; empty if it does not. */
export function ttlTold({ action, ttl, ttlBefore }: Pick<NameChange, 'action' | 'ttl' | 'ttlBefore'>): string {
  if (action === 'create' && ttl) return `TTL ${ttlWord(ttl)}`
  return action === 'update' && ttl !== ttlBefore ? `TTL from ${ttlWord(ttlBefore)} to ${ttlWord(ttl)}` : ''
}

/** ttlTurn says how a TTL has changed. */
export const ttlTurn = (ttl: { before: number; after: number }) => `TTL from ${ttlWord(ttl.before)} to ${ttlWord(ttl.after)}`

/** goes tells whether a plan takes all of a name out of DNS. */
export function goes(plan: Plan, host: string): boolean {
  const own = plan.names.filter((n) => n.name === host)
  return own.length > 0 && own.every((n) => n.action === 'delete')
}

/** Removal is how many names of a provider a plan removes. */
export interface Removal {
  provider: string
  names: number
}

/** removals counts the names that leave DNS, for each provider. A name that keeps another type stays, and one without a target was not there. */
export function removals(plan: Plan): Removal[] {
  const gone = new Map<string, Set<string>>()
  const kept = new Set<string>()
  for (const n of plan.names) {
    const host = hostOf(n, plan.names)
    if (n.action === 'delete' && n.targets.length === 0) continue
    if (n.action === 'delete') gone.set(n.record, (gone.get(n.record) ?? new Set()).add(host))
    else kept.add(`${n.record}\n${host}`)
  }
  return [...gone]
    .map(([provider, names]) => ({ provider, names: [...names].filter((name) => !kept.has(`${provider}\n${name}`)).length }))
    .filter((r) => r.names > 0)
}

/** alwaysAllowed is how many names may go whatever the percentage is. */
export const alwaysAllowed = 5

/** isAbove tells whether a removal needs the token of its plan. */
export const isAbove = (names: number, total: number, percent: number) => percent < 100 && names > alwaysAllowed && names * 100 > total * percent

/** limitOf is how much of all names may go at once, in percent. */
export const limitOf = (total: number, percent: number) => Math.min(100, Math.max(percent, total > 0 ? (alwaysAllowed * 100) / total : 100))

/** percentOf reads a maxRemoval as it is stored. */
export function percentOf(value: number | string | undefined): number {
  const n = typeof value === 'string' ? parseInt(value, 10) : value
  return n === undefined || Number.isNaN(n) ? 25 : n
}

/** Fate is what a plan does to a host name. One that is blank or lapses has no address, so that its begin or end changes nothing in DNS. */
type Fate = NameChange['action'] | 'blank' | 'lapse'

const fates: Fate[] = ['delete', 'lapse', 'update', 'create', 'blank', 'unchanged']

const fateOf = ({ action, targets }: NameChange): Fate => (targets.length > 0 ? action : action === 'delete' ? 'lapse' : action === 'create' ? 'blank' : action)

/** fatesOf is what a plan does to each host name, by all of its types and providers together; those that change first. All counts of a plan follow from it. */
function fatesOf({ names }: Pick<Plan, 'names'>): [host: string, fate: Fate][] {
  const of = new Map<string, Set<Fate>>()
  for (const n of names) {
    const host = hostOf(n, names)
    of.set(host, (of.get(host) ?? new Set()).add(fateOf(n)))
  }
  const joint = (all: Set<Fate>): Fate => {
    if (all.has('lapse') && all.has('blank')) return 'update' // it moves to another provider
    for (const fate of ['lapse', 'blank'] as const) if (all.size > 1) all.delete(fate)
    return all.size > 1 ? 'update' : ([...all][0] ?? 'unchanged') // a name that loses one type of several is changed
  }
  return [...of].map(([host, all]): [string, Fate] => [host, joint(all)]).sort((a, b) => fates.indexOf(a[1]) - fates.indexOf(b[1]))
}

/** counter counts the host names of a plan by what becomes of them. */
function counter(plan: Pick<Plan, 'names'>): (fate: Fate) => number {
  const all = fatesOf(plan)
  return (fate) => all.filter(([, is]) => is === fate).length
}

/** changing is how many host names a plan adds, changes and ends. */
export const changing = (plan: Pick<Plan, 'names'>) => fatesOf(plan).filter(([, fate]) => fate !== 'unchanged').length

/** isBuiltIn tells whether names of a plan change that are in no DNSEndpoint: the built-in publisher has them. */
export const isBuiltIn = (plan: Pick<Plan, 'names' | 'objects'>) => plan.names.some((n) => n.action !== 'unchanged' && n.targets.length > 0) && plan.objects.every((o) => o.kind !== 'DNSEndpoint')

/** countsOf says how many host names of a plan are new, change, go and stay. */
export function countsOf(plan: Pick<Plan, 'names'>): string {
  const count = counter(plan)
  const parts = [
    count('create') > 0 && `${count('create')} ${count('create') === 1 ? 'is' : 'are'} new`,
    count('blank') > 0 && `${count('blank')} ${count('blank') === 1 ? 'is' : 'are'} new without an address`,
    count('update') > 0 && `${count('update')} ${count('update') === 1 ? 'changes' : 'change'}`,
    count('delete') > 0 && `${count('delete')} ${count('delete') === 1 ? 'goes' : 'go'}`,
    count('lapse') > 0 && `${count('lapse')} without an address ${count('lapse') === 1 ? 'goes' : 'go'}`,
  ].filter(Boolean)
  const all = hostsOf(plan.names)
  if (all === 0) return 'The plan has no host name.'
  return `Of ${plural(all, 'host name')}, ${parts.length > 0 ? parts.join(', ') : 'none changes'}.`
}

/** effect says in a few words what a plan does to names and objects. */
export function effect(plan: Plan): string {
  const count = counter(plan)
  const words = [
    count('create') > 0 && plural(count('create'), 'new name'),
    count('blank') > 0 && plural(count('blank'), 'new name without an address', 'new names without an address'),
    count('update') > 0 && plural(count('update'), 'name changes', 'names change'),
    count('delete') > 0 && plural(count('delete'), 'name goes', 'names go'),
    count('lapse') > 0 && plural(count('lapse'), 'name without an address goes', 'names without an address go'),
  ].filter(Boolean)
  const objects = plan.objects.filter((o) => o.action !== 'unchanged').length + (plan.objectsLeftOut ? plan.objectsLeftOut.create + plan.objectsLeftOut.update + plan.objectsLeftOut.delete : 0)
  if (words.length > 0) return words.join(', ')
  return objects > 0 ? `${plural(objects, 'object changes', 'objects change')}, no name` : nothing
}

const nothing = 'nothing changes'

/** hostsIn are the host names of a plan, those that change first, with what becomes of each. */
export const hostsIn = (plan: Pick<Plan, 'names'>) => fatesOf(plan).map(([host, fate]) => ({ host, planned: inWords[fate] }))

const inWords: Record<Fate, string> = { delete: 'goes', lapse: 'goes, without an address', update: 'changes', create: 'new', blank: 'new, without an address', unchanged: 'stays as it is' }

/** wayBack is the plan that takes back what was done to a group. release is the one that the answer named. A terminated group is deployed again: it has no release to go back to. */
export function wayBack(action: string, release: number, plan: Pick<Plan, 'names'>): { action: string; to?: string; words: string } | undefined {
  if (release < 1) return undefined
  if (action === 'terminate') return { action: 'deploy', words: 'Undo: plan to deploy it again' }
  return release > 1 && plan.names.some((n) => n.action !== 'create') ? { action: 'rollback', to: String(release - 1), words: `Undo: plan to go back to release ${release - 1}` } : { action: 'terminate', words: 'Undo: plan to terminate it' }
}

/** idle tells whether a plan changes neither names nor objects. */
export const idle = (plan: Plan) => effect(plan) === nothing
