import type { Event } from '../api/types'
import { clip } from './text'

/** Difference is a field of a document that has changed. */
export interface Difference {
  field: string // below spec, as in routing/weights
  from: string
  to: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** wordOf is a value in a line. */
function wordOf(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (Array.isArray(value) && value.every((v) => !isObject(v) && !Array.isArray(v))) return value.join(', ') || 'none'
  return clip(typeof value === 'string' ? value : JSON.stringify(value), 200)
}

/** differences are the fields in which two values differ. */
export function differences(before: unknown, after: unknown, field = ''): Difference[] {
  if (isObject(before) && isObject(after)) return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((key) => differences(before[key], after[key], field ? `${field}/${key}` : key))
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ field: field || 'spec', from: wordOf(before), to: wordOf(after) }]
}

const specOf = (document: unknown) => (isObject(document) ? document['spec'] : undefined)

/** changesOf are the fields of a document that differ between two of its revisions, by the events of its writes. It is empty if these are not known. */
export function changesOf(events: Event[], path: string, from: number, to: number): Difference[] {
  const writes = events.filter((e) => e.path === path && e.outcome === 'stored')
  const before = writes.find((e) => e.revision === from)?.after ?? writes.find((e) => e.revision === from + 1)?.before
  const after = writes.find((e) => e.revision === to)?.after
  return before && after ? differences(specOf(before), specOf(after)) : []
}
