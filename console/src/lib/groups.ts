import type { GroupSummary } from '../api/types'
import { ownerWord } from './commands'

const ranks = ['Failed', 'Updating', 'Instantiating', 'Terminating', 'Instantiated', 'Created', 'Terminated']

/** byNeed orders groups: those that need somebody first. */
export const byNeed = (a: GroupSummary, b: GroupSummary) => ranks.indexOf(a.state) - ranks.indexOf(b.state) || b.undeployed - a.undeployed || (a.path < b.path ? -1 : 1)

/** isGroup tells whether a group is what a user looks for, by a part of how the command line writes it. */
export const isGroup = (typed: string, { path }: Pick<GroupSummary, 'path'>) => ownerWord(path).includes(typed.trim())

/** actionsOf are the plans that a group offers. One that is not deployed has nothing to terminate, and no release to go back from. */
export const actionsOf = ({ state, release }: Pick<GroupSummary, 'state' | 'release'>) => (['Created', 'Terminated'].includes(state) ? ['deploy'] : ['deploy', ...(release > 1 ? ['rollback'] : []), 'terminate'])

/** messageOf says why a group is not as it should be. One that is under way without a reason waits for its clusters. */
export function messageOf({ state, message }: GroupSummary): string {
  if (message) return message
  if (state === 'Instantiating' || state === 'Updating') return 'waits until all its clusters have all objects; the pages of its names say which cluster cannot be reached'
  return state === 'Terminating' ? 'waits until its names are out of DNS and its objects are out of its clusters' : '–'
}
