import type { ComponentChildren } from 'preact'
import type { NameChange, Plan } from '../api/types'
import { changing, hostsOf, lacking, movesOf, removals, ttlTold } from '../lib/plan'
import { plural, visible } from '../lib/text'
import { duration } from '../lib/time'
import { Badge, Section, Table, Text } from './basics'
import { Meter } from './meter'
import { Action, Objects } from './planobjects'
import { named, Told } from './subject'
import { Targets } from './targets'

/** Not is what a plan with errors does to a name: nothing, whatever was asked for. */
const Not = () => (
  <Badge tone="bad" mark="✕">
    refused
  </Badge>
)

/** promise is what a confirmation does. */
export const promise = 'Only what you see here is done. If anything has changed since, nothing is done, and you can look again.'

/** PlanView shows what stands in the way of a plan, then what it does to names, then why, and objects. The children say why. A plan is unlimited if maxRemoval does not count for it. */
export function PlanView({ plan, project, unlimited = false, children }: { plan: Plan; project: string; unlimited?: boolean; children?: ComponentChildren }) {
  return (
    <>
      <Obstacles plan={plan} />
      <Names plan={plan} />
      {plan.warnings.length > 0 && (
        <div class="notice">
          <p class="strong">{plural(plan.warnings.length, 'warning')}</p>
          <ul>
            {plan.warnings.map((w, i) => (
              <li key={i}>
                <Told>{w}</Told>
              </li>
            ))}
          </ul>
        </div>
      )}
      {removals(plan).map((r) => (
        <Meter key={r.provider} removal={r} project={project} unlimited={unlimited} />
      ))}
      {children}
      <Objects plan={plan} />
    </>
  )
}

/** Obstacles are the errors of a plan, and Services that no cluster has. */
function Obstacles({ plan }: { plan: Plan }) {
  return (
    <>
      {plan.errors.length > 0 && (
        <div class="fault" role="alert">
          <p class="strong">This cannot be done as it is.</p>
          <ul>
            {plan.errors.map((e, i) => (
              <li key={i}>
                <Pointer of={e.pointer} /> <Told>{e.detail}</Told>
              </li>
            ))}
          </ul>
        </div>
      )}
      {lacking(plan) && (
        <div class="fault" role="alert">
          <p class="strong">
            No cluster has Service <Text>{lacking(plan)}</Text>.
          </p>
          <p>It gives no address. The name is answered once a cluster has the Service. Look at namespace and name, and at the clusters.</p>
        </div>
      )}
    </>
  )
}

/** Names are those that a plan changes. */
function Names({ plan }: { plan: Plan }) {
  const moves = movesOf(plan)
  const hosts = changing(plan)
  const by = new Set(moves.map((m) => m.record)).size === 1 ? moves[0]?.record : undefined // of all of them
  const refused = plan.errors.length > 0
  return (
    <Section title={moves.length > 0 ? `Host names that ${refused ? 'were to change' : 'change'}: ${hosts} of ${hostsOf(plan.names)}${by ? `, by provider ${by}` : ''}` : 'Names'} id="plan-names">
      {moves.length === 0 ? (
        <p class="muted">No name changes in DNS.</p>
      ) : (
        <Table label="Names that change" head={['Change', 'Name', 'Type', 'From', 'To', ...(by ? [] : ['Provider']), 'How soon, at most']}>
          {moves.map((change, i) => (
            <Move key={i} change={change} refused={refused} by={by} />
          ))}
        </Table>
      )}
      {moves.length > hosts && <p class="muted small">A host name has a row for each type and provider: {plural(moves.length, 'row')}.</p>}
    </Section>
  )
}

/** Move is the row of a name that changes. by is the provider of all of them. If the plan is refused, the row promises nothing: a name that would be new here may be published by somebody else. */
function Move({ change, refused, by }: { change: NameChange; refused: boolean; by: string | undefined }) {
  return (
    <tr>
      <td>{refused ? <Not /> : <Action action={change.action} />}</td>
      <td class="strong">
        <Text>{change.name}</Text>
      </td>
      <td>{change.type}</td>
      <td class="mono">
        {refused && change.action === 'create' ? <>–</> : <Targets as="del" all={change.before ?? []} other={change.action === 'delete' ? [] : change.targets} />}
      </td>
      <td class="mono">
        <Targets as="ins" all={change.action === 'delete' ? [] : change.targets} other={change.before ?? []} />
        {ttlTold(change) && <div class="small">{ttlTold(change)}</div>}
      </td>
      {!by && <td>{change.record}</td>}
      <td class="small">
        {refused ? <>–</> : <Soon change={change} />}
      </td>
    </tr>
  )
}

/** Pointer says which document, and which field of it, an error is about. */
function Pointer({ of }: { of: string }) {
  const at = of.indexOf('#')
  const [path, field] = at < 0 ? ['', of] : [of.slice(0, at), of.slice(at + 1)]
  if (!path) return field ? <code>{visible(field)}</code> : null
  return (
    <>
      <Text>{named(path)}</Text> {field && <code>{visible(field)}</code>}:
    </>
  )
}

/** Sure is the box to tick before a plan with Services that no cluster has. */
export function Sure({ plan, sure, set }: { plan: Plan; sure: boolean; set: (sure: boolean) => void }) {
  if (!lacking(plan)) return null
  return (
    <label class="check warn">
      <input type="checkbox" checked={sure} onChange={(e) => set(e.currentTarget.checked)} />
      <span>I want it although no cluster has Service {visible(lacking(plan))}: it gives no address.</span>
    </label>
  )
}

/** Soon says how soon a change is answered, and how soon clients follow. */
function Soon({ change }: { change: NameChange }) {
  const { action, targets, answeredWithin, clientsWithin, absentFor, ttl, ttlBefore } = change
  const kept = ttlBefore ?? ttl
  if (action === 'delete' && targets.length === 0) return <>it was not in DNS: it had no address</>
  if (action === 'delete') return <>{kept ? `resolvers may answer it for ${kept} s more` : 'resolvers may answer it for its TTL'}</>
  if (!answeredWithin && !absentFor) return <>–</>
  return (
    <>
      {answeredWithin && <div>answered after {duration(answeredWithin)}</div>}
      {clientsWithin && <div>clients follow after {duration(clientsWithin)}</div>}
      {absentFor && <div class="muted">Resolvers that asked before may say for {duration(absentFor)} that it does not exist.</div>}
    </>
  )
}
