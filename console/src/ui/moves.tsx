import { danger, lostOf, type Moved, type Preview } from '../lib/failover'
import { plural } from '../lib/text'
import { clusterPath } from '../lib/words'
import { Badge, CachesUntil, Table, Time } from './basics'
import { NameLink, Told } from './subject'
import { Targets } from './targets'

/** gone tells whether a name has no target afterwards. */
const gone = (m: Moved) => m.after.length === 0

/** NotYet is what a failover waits for, or what was not seen before it was over. */
const NotYet = ({ over }: { over: boolean }) => <Badge tone={over ? 'unknown' : 'wait'}>{over ? 'not seen' : 'not yet'}</Badge>

const mostClusters = 3 // that a row names

/** Of names the clusters that give what is left. */
function Of({ clusters }: { clusters: string[] }) {
  const further = clusters.length - mostClusters
  return <div class="small muted">of {clusters.slice(0, mostClusters).map(clusterPath).join(', ') + (further > 0 ? ` and ${further} more` : '')}</div>
}

/** Moves are the names of a failover: what they lead to before and afterwards, and in a record how far they are, or were when it was over. */
export function Moves({ names, left, followed, over = false, unreachable }: { names: Moved[]; left: number | undefined; followed: boolean; over?: boolean; unreachable?: Preview['unreachable'] }) {
  if (names.length === 0) return null
  return (
    <>
      <Table label="Names that change" head={followed ? ['Name', 'Type', 'From', 'To', 'Published', 'Answered', 'Old answers', 'Notes'] : ['Name', 'Type', 'From', 'To', 'Provider', 'Notes']}>
        {names.map((m, i) => (
          <tr key={i}>
            <td>
              <NameLink name={m.name} />
            </td>
            <td>{m.type}</td>
            <td class="mono">
              <Targets as="del" all={m.before} other={m.after} />
            </td>
            <td class="mono">
              <Targets as="ins" all={m.after} other={m.before} />
              {!gone(m) && m.clustersAfter.length > 0 && <Of clusters={m.clustersAfter} />}
            </td>
            {followed ? (
              <>
                <td>{m.published ? <Badge tone={gone(m) ? 'plain' : 'good'}>{gone(m) ? 'taken out' : 'yes'}</Badge> : <NotYet over={over} />}</td>
                <td>{m.answered ? <Badge tone={gone(m) ? 'plain' : 'good'}>{gone(m) ? 'no answer any more' : 'yes'}</Badge> : <NotYet over={over} />}</td>
                <td>
                  <CachesUntil at={m.cachesUntil} />
                </td>
              </>
            ) : (
              <td>{m.provider}</td>
            )}
            <td>
              {danger(m) && <Badge tone={m.left === 'one' ? 'note' : 'bad'}>{danger(m)}</Badge>}{' '}
              {lostOf(m, unreachable).map((u) => (
                <Badge key={u.cluster} tone="bad">
                  {clusterPath(u.cluster)} unreachable since <Time at={u.since} />
                </Badge>
              ))}{' '}
              <Told>{m.stays ?? m.message ?? ''}</Told>
            </td>
          </tr>
        ))}
      </Table>
      {left ? <p class="muted">{plural(left, 'record')} more than the answer can hold.</p> : null}
    </>
  )
}
