import type { FoundName } from '../api/types'

/** gravest is the kind of trouble under which a name is listed; empty if it has none. */
export function gravest({ state, published, verified }: Pick<FoundName, 'state' | 'published' | 'verified'>): 'failed' | 'unpublished' | 'foreign' | 'unverified' | '' {
  if (state === 'Failed') return 'failed'
  if (published === 'False') return 'unpublished'
  if (verified === 'False') return 'foreign'
  return verified === 'Unknown' ? 'unverified' : ''
}
