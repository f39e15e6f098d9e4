import type { NameExplanation, NameStatus } from '../api/types'
import type { Tone } from '../ui/basics'
import { worst } from './chain'

export interface Verdict {
  tone: Tone
  word: string
}

/** verdict is how a name does, in a word: that of its worst owner. */
export function verdict(name: Pick<NameExplanation, 'owners'>): Verdict {
  const all = name.owners.map((o) => judge(o.state, o.records))
  const order: Tone[] = ['bad', 'wait', 'unknown', 'good', 'plain']
  return all.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))[0] ?? { tone: 'unknown', word: 'nobody publishes it' }
}

function judge(state: string, records: NameStatus[]): Verdict {
  if (state === 'Failed') return { tone: 'bad', word: 'failed' }
  if (state === 'Terminating') return { tone: 'wait', word: 'going' }
  const published = worst(records, 'Published')
  const verified = worst(records, 'Verified')
  if (records.length > 0 && records.every((r) => r.targets.length === 0)) return { tone: 'bad', word: 'no target' }
  if (published === 'False') return state === 'Instantiated' ? { tone: 'bad', word: 'not published' } : { tone: 'wait', word: 'under way' }
  if (verified === 'False') return { tone: 'bad', word: 'answered otherwise' }
  if (state !== 'Instantiated') return { tone: 'wait', word: 'under way' }
  if (verified === 'True') return { tone: 'good', word: 'answered as published' }
  if (published === 'True') return { tone: 'good', word: 'published' }
  return { tone: 'unknown', word: 'not known to be published' }
}
