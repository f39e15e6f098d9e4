import { apiPath, cli, kindOf, ownerWord, projectOf } from './commands'

/** Step is a request that plans, and the one that does it. */
export interface Step {
  plan: { method: string; path: string; query: Record<string, string | undefined> }
  act: { method: string; path: string; query: Record<string, string | undefined> }
  cli: string // plans; it does nothing
  verb: string
}

/** stepOf is what an action on an owner asks of the API. */
export function stepOf(owner: string, action: string, to: string | undefined): Step | undefined {
  const kind = kindOf(owner)
  const path = apiPath(owner)
  const verb = `${action[0]?.toUpperCase()}${action.slice(1)}`
  if (kind === 'name' && action === 'delete')
    return {
      plan: { method: 'DELETE', path, query: { dryRun: 'true' } },
      act: { method: 'DELETE', path, query: {} },
      cli: cli('unpublish', owner.split('/')[3], '--project', projectOf(owner), '--dry-run'),
      verb: 'Unpublish',
    }
  const allowed: Record<string, string[]> = { group: ['deploy', 'instantiate', 'update', 'rollback', 'terminate'], 'logical cloud': ['deploy', 'instantiate', 'update', 'rollback', 'terminate'], provider: ['deploy', 'update'] }
  if (!allowed[kind]?.includes(action)) return undefined
  return {
    plan: { method: 'POST', path: `${path}/plan`, query: { for: action, to } },
    act: { method: 'POST', path: `${path}/${action}`, query: { to } },
    cli: cli('plan', ownerWord(owner), '--for', action, to && '--to', to),
    verb,
  }
}
