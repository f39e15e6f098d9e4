import type { NameOwner } from '../api/types'

export interface Foreign {
  server: string
  answer: string
  wanted: string
}

/** foreign are the answers of servers that are not what was published. */
export function foreign(owner: NameOwner): Foreign[] {
  return owner.records.flatMap((r) =>
    (r.answers ?? []).filter((a) => a.message).map((a) => ({ server: a.server, answer: a.targets?.join(' ') || a.rcode || 'nothing', wanted: r.targets.join(' ') || 'nothing' })),
  )
}

/** reasonOf is the reason of an owner's trouble: its own message, that of external-dns, or that of the worst condition. */
export function reasonOf(owner: NameOwner): string {
  const conditions = owner.records.flatMap((r) => r.conditions)
  return owner.message || owner.externalDNS.find((e) => e.message)?.message || conditions.find((c) => c.status === 'False')?.message || conditions.find((c) => c.status === 'Unknown')?.message || ''
}
