import type { NameOwner, NameTurn } from '../api/types'
import { kindOf, ownerWord, projectOf } from './commands'

/** ownerOf says whose change of a host name it is, if the name has or had several owners; empty if it has one. */
export function ownerOf(turn: Pick<NameTurn, 'owner' | 'project'>, all: Pick<NameTurn, 'owner'>[], owners: Pick<NameOwner, 'owner'>[] = []): string {
  const paths = new Set([...all, ...owners].flatMap((t) => t.owner ?? []))
  if (paths.size < 2) return ''
  if (!turn.owner) return `project ${turn.project}`
  return kindOf(turn.owner) === 'name' ? `project ${projectOf(turn.owner)}` : `group ${ownerWord(turn.owner)}`
}
