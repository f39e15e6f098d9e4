import { useClusters, useProject } from '../api/lists'
import { caller, may, settings } from '../api/session'
import type { NameOwner } from '../api/types'
import { changers, findingsOf, staying } from '../lib/advice'
import { kindOf } from '../lib/commands'
import { drainOf } from '../lib/failover'
import { link } from '../lib/route'
import { clusterPath } from '../lib/words'
import { Badge, Section, stateTone, Text, Time } from '../ui/basics'
import { ChainView } from '../ui/chainview'
import { Outages } from '../ui/outages'
import { Pending } from '../ui/pending'
import { ClusterLink, DrainedBy, OwnerLink, Told } from '../ui/subject'
import { Behind } from './namebehind'
import { Answers, LeftOut, Probes, Targets } from './nametargets'

/** mayChange tells whether the user may change what an owner does with a name. */
export const mayChange = (owner: Pick<NameOwner, 'owner' | 'project'>) => may(caller.value, kindOf(owner.owner) === 'name' ? 'editor' : 'operator', owner.project)

/** Owner is all that one owner does with the name. */
export function Owner({ owner, host }: { owner: NameOwner; host: string }) {
  const isName = kindOf(owner.owner) === 'name'
  const project = useProject(owner.project).data
  return (
    <article class="card" aria-label={owner.owner}>
      <div class="bar">
        <h2>
          Owner: {isName ? 'project' : 'group'} <OwnerLink path={owner.owner} />
        </h2>
        <Badge tone={stateTone(owner.state)}>{owner.state}</Badge>
        <Actions owner={owner} host={host} />
      </div>
      <p class="muted">
        {isName ? 'A document of its own gives this name.' : 'A deployment intent group gives this name; it is written as project/composite app/version/group.'} Release {owner.release}
        {owner.actor && (
          <>
            {' '}
            was asked for by <Text>{owner.actor}</Text>
          </>
        )}
        {owner.accepted && (
          <>
            , <Time at={owner.accepted} />
          </>
        )}
        . {settings.value.anonymous ? 'This server has no sign-in: everybody who reaches it may change it.' : changers(owner, project && Boolean(project.spec?.names?.editors))}
      </p>
      {owner.message && (
        <p class="notice">
          <Told>{owner.message}</Told>
        </p>
      )}
      <Outages all={owner.unreachable} />
      <Pending owner={owner.owner} host={host} />
      <ChainView owner={owner} />
      <Findings owner={owner} />
      <Staying owner={owner} />
      <Targets owner={owner} />
      <LeftOut owner={owner} />
      <Probes owner={owner} />
      <Answers owner={owner} />
      <Behind owner={owner} />
    </article>
  )
}

function Actions({ owner, host }: { owner: NameOwner; host: string }) {
  if (!mayChange(owner)) return null // the page says so once
  return kindOf(owner.owner) === 'name' ? (
    <span class="actions">
      <a class="button" href={link(['publish'], { name: host, project: owner.project })}>
        Change
      </a>
      {owner.release > 1 && (
        <a class="button" href={link(['names', host], { tab: 'timeline' })}>
          Go back to a release
        </a>
      )}
      <a class="button risky" href={link(['plan'], { owner: owner.owner, for: 'delete' })}>
        Unpublish
      </a>
    </span>
  ) : (
    <span class="actions">
      {['deploy', ...(owner.release > 1 ? ['rollback'] : []), 'terminate'].map((action) => (
        <a key={action} class={action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner: owner.owner, for: action })}>
          Plan {action}
        </a>
      ))}
    </span>
  )
}

/** Findings are what is not in order, why, and what to do. */
function Findings({ owner }: { owner: NameOwner }) {
  const found = findingsOf(owner)
  const out = owner.records.every((r) => r.targets.length === 0) ? [...new Set(owner.records.flatMap((r) => r.rejected.map((left) => left.cluster)))] : []
  const clusters = useClusters(out.length > 0)
  const onlyDrained = (why: string) => / (is|are) drained: /.test(why) && !why.includes('; ') // it names no other lack
  if (found.length === 0) return null
  return (
    <Section title={found.some((f) => f.tone !== 'unknown') ? 'Problems, and what to do' : 'Not known, and what to do'} id={`findings-${owner.owner}`}>
      <ul class="plain">
        {found.map((f) => (
          <li key={f.what + f.why}>
            <Badge tone={f.tone}>{f.what}</Badge> <Told>{f.why}</Told>
            {f.what === 'not published' && onlyDrained(f.why) && <DrainedBy drain={drainOf(clusters.data ?? [], out)} said />}. {f.advice && <span class="muted">{f.advice}</span>}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Staying are addresses that stay although one of their clusters is left out. */
function Staying({ owner }: { owner: NameOwner }) {
  return (
    <>
      {staying(owner.records).map((s) => (
        <p key={s.target + s.cluster} class="notice">
          <span class="mono">{s.target}</span> of <ClusterLink cluster={s.cluster} /> is left out: <Told>{s.reason}</Told>. The address stays in DNS because {s.others.map(clusterPath).join(' and ')} {s.others.length === 1 ? 'gives' : 'give'} it, too.
        </p>
      ))}
    </>
  )
}
