import type { FoundName, FoundNamePage, Trouble } from '../api/types'
import { kindOf } from './commands'

/** Kind is a kind of trouble of names. */
export type Kind = 'failed' | 'unpublished' | 'foreign' | 'unverified'

type Question = Record<string, string>

/** wide is the question whose answer has all names of a kind, and names of graver kinds. */
export const wide: Record<Kind, Question> = { failed: { state: 'Failed' }, unpublished: { published: 'False' }, foreign: { verified: 'False' }, unverified: { verified: 'Unknown' } }

// The questions whose answers are the names of a kind, and names of failed owners besides.
const questions: Record<Kind, Question[]> = {
  failed: [wide.failed],
  unpublished: [wide.unpublished],
  foreign: [{ published: 'True', verified: 'False' }, { published: 'Unknown', verified: 'False' }],
  unverified: [{ published: 'True', verified: 'Unknown' }, { published: 'Unknown', verified: 'Unknown' }],
}

/** gravest is the kind of trouble under which a name is listed; empty if it has none. */
export function gravest({ state, published, verified }: Pick<FoundName, 'state' | 'published' | 'verified'>): Kind | '' {
  if (state === 'Failed') return 'failed'
  if (published === 'False') return 'unpublished'
  if (verified === 'False') return 'foreign'
  return verified === 'Unknown' ? 'unverified' : ''
}

const enough = 10 // names of a question
const mostPages = 5
const limit = '50'

/** namesOf reads the first names of a kind of trouble without those of graver kinds, and counts all of them. */
export async function namesOf(kind: Kind, read: (question: Question) => Promise<FoundNamePage>): Promise<{ names: FoundName[]; n: number }> {
  const first = await read({ ...wide[kind], limit })
  if (!first.continue) {
    const names = first.items.filter((n) => gravest(n) === kind)
    return { names, n: names.length }
  }
  const parts = await Promise.all(questions[kind].map((question) => partOf(kind, question, read)))
  return { names: parts.flatMap((p) => p.names), n: parts.reduce((sum, p) => sum + p.n, 0) }
}

async function partOf(kind: Kind, question: Question, read: (question: Question) => Promise<FoundNamePage>): Promise<{ names: FoundName[]; n: number }> {
  const names: FoundName[] = []
  let next: string | undefined
  let total = 0
  for (let page = 0; page < mostPages && (page === 0 || (next && names.length < enough)); page++) {
    const found = await read({ ...question, limit, ...(next ? { continue: next } : {}) })
    names.push(...found.items.filter((n) => gravest(n) === kind))
    next = found.continue
    total = found.total
  }
  if (!next) return { names, n: names.length }
  const failed = kind === 'failed' ? 0 : (await read({ ...question, state: 'Failed', limit: '1' })).total
  return { names, n: Math.max(names.length, total - failed) }
}

/** isHeldName tells whether a trouble is the held removal of one name, which is its own owner. */
export const isHeldName = (t: Trouble) => t.kind === 'held' && kindOf(t.owner ?? '') === 'name'

/** causeOf is what held names of one provider and one reason have in common; undefined of every other trouble. */
const causeOf = (t: Trouble) => (isHeldName(t) ? [t.project, t.provider, t.message].join('\n') : undefined)

/** keyOf tells entries of held names apart. */
export const keyOf = ([first]: Trouble[]) => first && causeOf(first)

/** alikeOf puts held names of one provider and one reason together, in the order of the first of each. Every other trouble stays alone. */
export function alikeOf(troubles: Trouble[]): Trouble[][] {
  const groups = new Map<string | number, Trouble[]>()
  troubles.forEach((t, n) => {
    const key = causeOf(t) ?? n
    groups.set(key, [...(groups.get(key) ?? []), t])
  })
  return [...groups.values()]
}
