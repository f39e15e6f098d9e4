import type { DNSName, Event } from '../api/types'
import { kindOf } from './commands'

const ends = ['completed', 'failed']

/** joined puts the end of a request, and what a name's document changed, in the place of its acceptance; the newest first. */
export function joined(events: Event[]): Event[] {
  const accepted = new Set(events.flatMap((e) => (e.outcome === 'accepted' && e.requestID ? [e.requestID] : [])))
  const isPart = (e: Event) => e.outcome === 'stored' && kindOf(e.path ?? '') === 'name' && accepted.has(e.requestID ?? '')
  const written = new Map(events.filter(isPart).map((e) => [e.requestID ?? '', e.message]))
  const ended = new Map<string, Event>()
  return events.flatMap((e) => {
    const key = `${e.path ?? ''} ${e.action} ${e.revision}`
    if (isPart(e)) return []
    if (ends.includes(e.outcome)) {
      ended.set(key, e)
      return []
    }
    const end = e.outcome === 'accepted' ? ended.get(key) : undefined
    ended.delete(key)
    return [{ ...e, outcome: end?.outcome ?? e.outcome, message: [end?.message, written.get(e.requestID ?? ''), e.message].find(Boolean) ?? '' }]
  })
}

const secret = '***' // which events have in place of what looks like a secret

/** documentAt is the whole document of a name as its release had it, by the events of its project. */
export function documentAt(events: Event[], path: string, release: number): DNSName | undefined {
  const request = events.find((e) => e.path === path && e.outcome === 'accepted' && e.revision === release)?.requestID
  const written = events.find((e) => e.path === path && e.outcome === 'stored' && e.requestID === request && request !== undefined)
  return JSON.stringify(written?.after ?? '').includes(secret) ? undefined : (written?.after as DNSName | undefined)
}
