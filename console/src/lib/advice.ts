import type { Answer, NameOwner, NameStatus } from '../api/types'
import { kindOf } from './commands'
import { clusterPath } from './words'

/** Advice is what to do about a kind of trouble. */
export const advice = {
  failed: 'A release was accepted and could not be committed. Signpost tries again by itself. If it stays so, read the message of the name, and the log of the server.',
  unpublished: 'The name has no address, or the publisher has not put it through. The message says why. If it names no cause, look at the log of external-dns, or of Signpost for the built-in publisher.',
  empty: 'Look at the Service: its namespace and name, and whether it has an external address in one of the clusters of the name. If addresses may not be published, "Left out" below lists them.',
  silent: 'The cluster does not answer, so Signpost does not know its addresses yet. The name gets them when it answers: see on the page of the cluster why it cannot be reached.',
  unseen: 'Signpost cannot see whether external-dns has put the name through. See whether its cluster can be reached, and whether Signpost may read its Deployment and its metrics: the preflight of the cluster says so.',
  foreign: 'A server answers something else. If it never changes, another program writes this name, or the name belongs to another external-dns: compare the answers, then adopt the name or remove the other writer.',
  unverified: 'It is not known what the servers answer. Signpost asks again by itself. If this lasts, see whether it can reach the servers, and whether they are authoritative for the zone.',
  noServers: 'Name the authoritative servers in spec.verify.servers of the provider, and let Signpost reach them.',
  missing: 'A server does not have this record. If it never comes, see whether the publisher writes to the zone of this server, and whether the server answers this type.',
}

/** Finding is what is not in order with a name, why, and what to do. */
export interface Finding {
  what: string
  tone: 'bad' | 'note' | 'unknown'
  why: string
  advice: string // empty if why says it
}

const kinds = {
  Published: { False: ['not published', advice.unpublished], Unknown: ['publication unknown', advice.unseen] },
  Verified: { False: ['not answered as published', advice.foreign], Unknown: ['answers unknown', advice.unverified] },
} as const

// The reason of a condition tells more than its status.
const byReason: Record<string, string> = { NoAddress: advice.empty, NoServers: advice.noServers, NotThere: advice.missing }

/** hasRemedy tells whether a reason says of each cluster what to do there: one that is general begins otherwise. */
const hasRemedy = (why: string) => why.startsWith('none of its addresses may be published') || (!why.startsWith('no cluster has an address') && /: (?:create it there|give it a load balancer|see whether its pods|undrain )/.test(why))

/** isSilent tells whether a name lacks addresses only because a cluster that cannot be reached was never asked for them. */
const isSilent = (why: string, lost: string[]) => why.endsWith(' are not known yet') && lost.some((cluster) => [cluster, clusterPath(cluster)].some((word) => why.includes(` on ${word} are`)))

/** findingsOf are what is not in order with an owner's name, each once. */
export function findingsOf(owner: Pick<NameOwner, 'state' | 'message' | 'records' | 'unreachable'>): Finding[] {
  const lost = (owner.unreachable ?? []).map((o) => o.cluster)
  const found: Finding[] = owner.state === 'Failed' ? [{ what: 'failed', tone: 'bad', why: owner.message, advice: advice.failed }] : []
  const add = (one: Finding) => {
    if (!found.some((f) => f.what === one.what && f.why === one.why)) found.push(one)
  }
  const nothing = owner.records.every((r) => r.targets.length === 0)
  for (const c of owner.records.flatMap((r) => r.conditions)) {
    if (c.reason === 'RemovalFrozen') add({ what: 'removal held', tone: 'note', why: c.message, advice: '' })
    const kind = c.type === 'Published' || c.type === 'Verified' ? kinds[c.type] : undefined
    if (!kind || (c.status !== 'False' && c.status !== 'Unknown')) continue
    const [what, todo] = kind[c.status]
    if (c.type === 'Verified' && nothing) continue // nobody could answer it
    add({ what, tone: c.status === 'False' ? 'bad' : 'unknown', why: c.message || c.reason, advice: c.reason === 'NoAddress' && hasRemedy(c.message) ? '' : isSilent(c.message, lost) ? advice.silent : (byReason[c.reason] ?? todo) })
  }
  return found
}

/** staying are the addresses that are left out of one cluster and stay published, because another cluster gives them too. */
export function staying(records: NameStatus[]): { target: string; cluster: string; reason: string; others: string[] }[] {
  return records.flatMap((r) =>
    r.rejected.filter((out) => r.targets.includes(out.target)).flatMap((out) => {
      const others = [...new Set(r.sources.filter((s) => s.target === out.target && s.cluster !== out.cluster).map((s) => s.cluster))]
      return others.length > 0 ? [{ target: out.target, cluster: out.cluster, reason: out.reason, others }] : []
    }),
  )
}

/** changers says who may change what an owner publishes. editors is whether the project lets editors publish names, if that is known. */
export function changers({ owner, project }: Pick<NameOwner, 'owner' | 'project'>, editors?: boolean): string {
  if (kindOf(owner) !== 'name') return `Operators of project ${project} may deploy and terminate it; editors may change its documents.`
  if (editors === undefined) return `Operators of project ${project} may change it, and editors if the project lets them.`
  return editors ? `Operators and editors of project ${project} may change it.` : `Operators of project ${project} may change it, editors may not.`
}

/** answersOf are the answers of servers, each once: two intents of one name are answered together. */
export function answersOf(records: NameStatus[]): { type: string; answer: Answer }[] {
  const found = new Map<string, { type: string; answer: Answer }>()
  for (const { type, answers } of records)
    for (const answer of answers ?? []) {
      const key = [answer.server, type, answer.targets?.join(' '), answer.message].join('\n')
      if (!found.has(key)) found.set(key, { type, answer })
    }
  return [...found.values()]
}
