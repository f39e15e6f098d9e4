import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../api/client'
import { caller, may } from '../api/session'
import type { NameOwner, NameTurn } from '../api/types'
import { cli, curl, kindOf, projectOf } from '../lib/commands'
import { ownerOf } from '../lib/turns'
import { link } from '../lib/route'
import { length } from '../lib/time'
import { done } from '../lib/words'
import { Badge, Copy, Empty, Fault, Loading, Text, Time, type Tone } from '../ui/basics'
import { ClusterLink, Told } from '../ui/subject'
import { TurnChanges } from '../ui/turn'

const causes: Partial<Record<string, { word: string; tone: Tone }>> = {
  Release: { word: 'Release', tone: 'plain' },
  Takeover: { word: 'Takeover', tone: 'plain' },
  Address: { word: 'Address', tone: 'plain' },
  Readiness: { word: 'Readiness', tone: 'plain' },
  Cluster: { word: 'Cluster', tone: 'bad' },
  Drain: { word: 'Drain', tone: 'note' },
  Undrain: { word: 'Undrain', tone: 'good' },
  Routing: { word: 'Routing', tone: 'plain' },
  Provider: { word: 'Provider', tone: 'plain' },
  FailSafe: { word: 'Fail-safe', tone: 'bad' },
  Held: { word: 'Removal held', tone: 'note' },
  Answers: { word: 'Answers', tone: 'bad' },
}

/** answerable tells whether servers are asked for a change: not for that of a TTL alone, nor for one of a name below the host name. */
const answerable = (c: NameTurn['changes'][number]) => !c.name && Boolean(c.added ?? c.removed ?? c.leftOut ?? !c.ttl)

const typesOf = (turn: NameTurn) => (turn.cause.reason === 'Answers' ? [] : turn.changes.filter(answerable).map((c) => c.type))

/** answeredAfter says how long the answer took after the publication. */
export function answeredAfter(turn: NameTurn): string {
  const times = turn.changes.filter(answerable).map((c) => (c.answered ? Date.parse(c.answered) : NaN))
  if (times.length === 0 || times.some(Number.isNaN)) return ''
  return length(Math.max(0, Math.round((Math.max(...times) - Date.parse(turn.time)) / 1000)))
}

/** answeredWord says how long the answer took; else that there was none yet, or none before the owner's next change of a record of the same type. Newer are the changes since. */
export function answeredWord(turn: NameTurn, newer: NameTurn[]): string {
  const took = answeredAfter(turn)
  if (took) return `All servers answered this change after ${took}.`
  const types = typesOf(turn)
  if (types.length === 0) return ''
  const over = newer.some((t) => t.owner === turn.owner && Date.parse(t.time) > Date.parse(turn.time) && typesOf(t).some((type) => types.includes(type)))
  return over ? 'The next change came before all servers were seen to answer this one.' : 'Not all servers were seen to answer this change yet.'
}

/** Timeline tells who did what to a name, what was published, and when it was answered. */
export function Timeline({ host, owners }: { host: string; owners?: NameOwner[] }) {
  const history = useQuery({
    queryKey: ['history', host],
    queryFn: ({ signal }) => ask(api.GET('/v2/names/{host}/history', { params: { path: { host } }, signal })),
    refetchInterval: 10_000,
  })
  if (history.error && !history.data) return <Fault error={history.error} />
  if (!history.data) return <Loading what="the timeline" />
  const copies = <Copy curl={curl('GET', `/v2/names/${encodeURIComponent(host)}/history`)} cli={cli('history', host)} />
  if (history.data.items.length === 0)
    return (
      <Empty title="Nothing is known of its past.">
        <p>Changes of 30 days are kept, at most 100 of a name in each project. They appear some seconds after they have happened.</p>
        {copies}
      </Empty>
    )
  return (
    <>
      <div class="bar">
        <p class="muted">The newest first. {copies}</p>
      </div>
      <ol class="timeline">
        {history.data.items.map((turn, i) => (
          <Turn key={turn.time + i} turn={turn} of={ownerOf(turn, history.data.items, owners)} newer={history.data.items.slice(0, i)} current={owners?.find((o) => o.owner === turn.owner)} />
        ))}
      </ol>
    </>
  )
}

function Turn({ turn, of, newer, current }: { turn: NameTurn; of: string; newer: NameTurn[]; current: NameOwner | undefined }) {
  const cause = causes[turn.cause.reason] ?? { word: turn.cause.reason, tone: 'plain' }
  const drained = ['drain', 'undrain'].includes(turn.cause.action ?? '')
  return (
    <li>
      <div class="bar">
        <Time at={turn.time} />
        <Badge tone={cause.tone}>{cause.word}</Badge>
        <span>
          {of && (
            <b>
              <Text>{of}</Text>
            </b>
          )}{' '}
          {drained && 'cluster '}
          {turn.cause.cluster && <ClusterLink cluster={turn.cause.cluster} />} {turn.cause.action && done(turn.cause.action, kindOf(turn.owner ?? '') === 'name')}
          {turn.cause.release ? ` as release ${turn.cause.release}` : ''}
          {turn.cause.actor && (
            <>
              {' '}
              by <Text>{turn.cause.actor}</Text>
            </>
          )}
        </span>
        {turn.times && turn.times > 1 && (
          <span class="muted">
            flapping, {turn.times} times, last <Time at={turn.lastTime} />
          </span>
        )}
        {!deletedSince(turn, newer) && <Back turn={turn} current={current} />}
      </div>
      {turn.cause.message && (
        <p>
          <Told>{turn.cause.message}</Told>
        </p>
      )}
      <TurnChanges turn={turn} />
      <p class="muted small">
        {answeredWord(turn, newer)}
        {turn.gap && ' Changes right before this one are lost.'}
      </p>
    </li>
  )
}

/** deletedSince tells whether the owner of a change was terminated after it: a name that is published again has new releases. */
export const deletedSince = (turn: NameTurn, newer: NameTurn[]) => kindOf(turn.owner ?? '') === 'name' && newer.some((t) => t.owner === turn.owner && t.cause.action === 'terminate')

/** Back leads to the plan that goes back to a release: of a name, in the form with its document of then. */
function Back({ turn, current }: { turn: NameTurn; current: NameOwner | undefined }) {
  const { owner, cause } = turn
  const isName = kindOf(owner ?? '') === 'name'
  if (!owner || !cause.release || cause.action === 'terminate' || !(isName || kindOf(owner) === 'group') || !may(caller.value, isName ? 'editor' : 'operator', projectOf(owner))) return null
  if (current && current.release === cause.release) return <span class="muted">current</span>
  if (isName)
    return (
      <a class="button" href={link(['publish'], { project: projectOf(owner), name: owner.split('/')[3], release: String(cause.release) })}>
        Plan to go back to release {cause.release}
      </a>
    )
  return (
    <a class="button" href={link(['plan'], { owner, for: 'rollback', to: String(cause.release) })}>
      Plan to go back to release {cause.release}
    </a>
  )
}
