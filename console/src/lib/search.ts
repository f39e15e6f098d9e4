import { cli } from './commands'

/** Filters narrow the list of names. */
export type Filters = Record<'q' | 'project' | 'provider' | 'cluster' | 'state' | 'published' | 'verified' | 'sort', string>

/** keys are the filters, as the address of the list has them. */
export const keys: (keyof Filters)[] = ['q', 'project', 'provider', 'cluster', 'state', 'published', 'verified', 'sort']

/** pattern is what a user types as the server wants it: without a star, any name that has the text. */
export function pattern(typed: string): string | undefined {
  const text = typed.trim().toLowerCase().replace(/\.$/, '')
  if (!text) return undefined
  return text.includes('*') ? text : `*${text}*`
}

/** isCluster tells whether a text is a cluster, as provider/cluster. */
export const isCluster = (text: string) => /^[\w.-]+\/[\w.-]+$/.test(text)

/** question is what the server is asked. */
export function question(f: Filters) {
  const name = pattern(f.q)
  const given: Record<string, string> = {}
  for (const key of keys) if (key !== 'q' && f[key] && (key !== 'cluster' || isCluster(f[key]))) given[key] = f[key]
  return { ...(name ? { name } : {}), ...given, sort: f.sort || 'worst' } as Record<string, string>
}

/** isPattern tells whether host names can have a pattern. */
export const isPattern = (pattern: string) => !/[^a-z0-9._*-]/.test(pattern)

/** findCommand asks the command line what the server is asked. */
export const findCommand = (asked: Record<string, string>) =>
  cli('find', ...['name', 'project', 'provider', 'cluster', 'state', 'published', 'verified'].flatMap((key) => (asked[key] ? (key === 'name' ? [asked[key]] : [`--${key}`, asked[key]]) : [])), asked['sort'] === 'worst' && '--worst')
