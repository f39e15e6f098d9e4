import type { NameExplanation, NameOwner, NameStatus } from '../api/types'
import type { Tone } from '../ui/basics'
import { isHeld, worst } from './chain'
import { kindOf, ownerWord } from './commands'

export interface Verdict {
  tone: Tone
  word: string
}

/** verdict is how a name does, in a word: that of its worst owner. One without a target does no harm to what others give, as in the list of names. */
export function verdict(name: Pick<NameExplanation, 'owners'>): Verdict {
  const gives = (o: NameOwner) => o.records.some((r) => r.targets.length > 0)
  const counts = (o: NameOwner) => o.state !== 'Instantiated' || gives(o) || !name.owners.some((other) => other.project === o.project && gives(other))
  const all = name.owners.filter(counts).map((o) => judge(o.state, o.records))
  const order: Tone[] = ['bad', 'wait', 'note', 'unknown', 'good', 'plain']
  return all.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))[0] ?? { tone: 'unknown', word: 'no project that you may read publishes it' }
}

/** fateOf is what became of a name after its owner was asked to act: whether others still give it, and what is published. */
export function fateOf(name: Pick<NameExplanation, 'owners' | 'others'>, owner: string): Verdict & { more: string } {
  const own = name.owners.filter((o) => o.owner === owner)
  const rest = name.owners.filter((o) => o.owner !== owner)
  const targets = [...new Set(name.owners.flatMap((o) => (o.state === 'Terminating' ? [] : o.records.flatMap((r) => r.targets))))].join(' ')
  if (own.some((o) => o.state !== 'Terminating')) return { ...verdict(name), more: targets }
  if (rest.length > 0) return { tone: 'plain', word: 'stays', more: `${rest.map((o) => (kindOf(o.owner) === 'group' ? `group ${ownerWord(o.owner)}` : `project ${o.project}`)).join(' and ')} ${rest.length === 1 ? 'gives' : 'give'} it, too: ${targets || 'no address'}` }
  if (own.length > 0) return { tone: 'wait', word: 'going', more: '' }
  return { tone: 'plain', word: 'gone', more: name.others ? 'a project that you may not read has it' : '' }
}

function judge(state: string, records: NameStatus[]): Verdict {
  if (state === 'Failed') return { tone: 'bad', word: 'failed' }
  if (state === 'Terminating') return { tone: 'wait', word: 'going' }
  const published = worst(records, 'Published')
  const verified = worst(records, 'Verified')
  if (records.length > 0 && records.every((r) => r.targets.length === 0)) return { tone: 'bad', word: 'no target' }
  if (published === 'False') return state === 'Instantiated' ? { tone: 'bad', word: 'not published' } : { tone: 'wait', word: 'under way' }
  if (verified === 'False') return { tone: 'bad', word: 'not answered as published' }
  if (isHeld(records)) return { tone: 'note', word: 'removal held' }
  if (state !== 'Instantiated') return { tone: 'wait', word: verified === 'True' ? 'answered, the rest is under way' : 'under way' }
  if (verified === 'True') return { tone: 'good', word: 'answered as published' }
  if (published === 'True') return { tone: 'good', word: 'published' }
  return { tone: 'unknown', word: 'publication unknown' }
}
