import { signal } from '@preact/signals'
import type { Caller } from './types'

/** Settings tell how users sign in, as the server says. */
export interface Settings {
  anonymous: boolean
  issuer?: string
  clientID?: string
  audiences?: string[]
  authorizationEndpoint?: string
  tokenEndpoint?: string
  fault?: string
}

/** The token lives in memory only: a reload forgets it. */
let token = ''

/** needed says that the server asks who the user is; why it does, after a session has ended. */
export const needed = signal<{ why: string } | null>(null)
export const caller = signal<Caller | null>(null)
export const settings = signal<Settings>({ anonymous: false })

export const bearer = () => token
export const setBearer = (value: string) => {
  token = value
}

/** base is the address of the server, without a trailing slash. The console is at ui/ below it. */
export const base = new URL('../', location.href.split('#')[0]).href.replace(/\/$/, '')

const ranks = ['viewer', 'editor', 'operator', 'admin'] as const
export type Role = (typeof ranks)[number]

/** may tells whether a caller has a role in a project; without one, in all projects; with '*', in any. */
export function may(who: Caller | null, role: Role, project?: string): boolean {
  return (who?.roles ?? []).some(
    (held) => ranks.indexOf(held.role) >= ranks.indexOf(role) && (!held.project || project === '*' || (project !== undefined && held.project === project)),
  )
}

/** ownProjects are the projects of a caller who has rights only in some; undefined for others, who may list all. */
export function ownProjects(who: Caller | null): string[] | undefined {
  if (!who || who.roles.length === 0 || may(who, 'viewer')) return undefined
  return [...new Set(who.roles.flatMap((held) => held.project ?? []))].sort()
}
