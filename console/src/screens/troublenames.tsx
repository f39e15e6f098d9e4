import { useQuery } from '@tanstack/react-query'
import { useClusters } from '../api/lists'
import { readNames } from '../api/trouble'
import { advice } from '../lib/advice'
import { drainOf } from '../lib/failover'
import { link } from '../lib/route'
import { wide, type Kind as KindKey } from '../lib/trouble'
import { Fault, Loading, type Tone } from '../ui/basics'
import { Part } from '../ui/part'
import { DrainedBy, NameLink, OwnerLink, Told } from '../ui/subject'

const shown = 10 // names of a kind

/** Kind is a kind of trouble that names have, and what to do about it. */
interface Kind {
  key: KindKey
  title: string
  tone: Tone
  means: string
  advice: string
}

/** kinds are those kinds, the gravest first. */
export const kinds: Kind[] = [
  { key: 'failed', title: 'Failed owners', tone: 'bad', means: 'names and groups whose release could not be stored', advice: advice.failed },
  { key: 'unpublished', title: 'Not published', tone: 'bad', means: 'names that are not at their DNS provider', advice: advice.unpublished },
  { key: 'foreign', title: 'Not answered as published', tone: 'bad', means: 'names that servers answer with something else, or not at all', advice: advice.foreign },
  { key: 'unverified', title: 'Answers unknown', tone: 'unknown', means: 'published names, of which Signpost does not know what servers answer', advice: advice.unverified },
]

/** Names lists names with a kind of trouble. A name that has several is listed once, under the gravest. */
export function Names({ kind }: { kind: Kind }) {
  const found = useQuery({
    queryKey: ['trouble', kind.key],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => readNames(kind.key, signal),
  })
  const clusters = useClusters(found.data?.names.some((n) => n.published === 'False') ?? false)
  if (found.error && !found.data) return <Fault error={found.error} />
  if (!found.data) return <Loading what={kind.title.toLowerCase()} />
  const { names, n } = found.data
  return (
    <Part title={kind.title} n={n} tone={kind.tone} means={kind.means} advice={kind.advice} id={kind.key}>
      <ul class="plain">
        {names.slice(0, shown).map((n) => (
          <li key={n.owner + n.name + n.provider + n.scope}>
            <NameLink name={n.name} />{' '}
            <span class="muted">
              of <OwnerLink path={n.owner} /> by {n.provider}
            </span>
            {n.reason && (
              <div class="small">
                <Told>{n.reason}</Told>
                <DrainedBy drain={n.published === 'False' ? drainOf(clusters.data ?? [], n.clusters) : undefined} said={/ (is|are) drained: /.test(n.reason)} />.
              </div>
            )}
          </li>
        ))}
      </ul>
      <p>
        <a href={link(['names'], wide[kind.key])}>In the list of names{kind.key === 'failed' ? '' : ', with those of the kinds above'}</a>
      </p>
    </Part>
  )
}
