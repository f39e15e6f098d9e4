import type { ObjectChange, Plan } from '../api/types'
import { isBuiltIn } from '../lib/plan'
import { plural, visible } from '../lib/text'
import { clusterPath } from '../lib/words'
import { Badge, Section, Text, type Tone } from './basics'

const words = { create: 'new', update: 'changes', delete: 'goes', unchanged: 'stays' } as const
const tones: Record<keyof typeof words, Tone> = { create: 'good', update: 'note', delete: 'bad', unchanged: 'plain' }
const marks: Record<keyof typeof words, string> = { create: '+', update: '~', delete: '−', unchanged: '•' }

/** Action is what a plan does to a name or an object. Its mark says that it is to come: nothing has been done or has failed. */
export const Action = ({ action }: { action: keyof typeof words }) => (
  <Badge tone={tones[action]} mark={marks[action]}>
    {words[action]}
  </Badge>
)

/** Objects are those of a plan: those that change with their differences, and how many stay. */
export function Objects({ plan }: { plan: Plan }) {
  const changing = plan.objects.filter((o) => o.action !== 'unchanged')
  const left = plan.objectsLeftOut
  if (plan.objects.length === 0) return null
  return (
    <Section title={`Objects in clusters that change: ${changing.length} of ${plan.objects.length}`} id="plan-objects">
      {isBuiltIn(plan) && <p class="muted">The names are no objects in a cluster: the built-in publisher writes them to DNS.</p>}
      {changing.slice(0, 200).map((o) => (
        <Diff key={o.cluster + o.kind + o.namespace + o.name} object={o} />
      ))}
      {changing.length > 200 && <p class="muted">{changing.length - 200} more; signpost plan shows all.</p>}
      {plan.objects.length > changing.length && (
        <details>
          <summary>{plural(plan.objects.length - changing.length, 'object stays as it is', 'objects stay as they are')}</summary>
          <ul>
            {plan.objects.filter((o) => o.action === 'unchanged').slice(0, 200).map((o) => (
              <li key={o.cluster + o.kind + o.namespace + o.name}>
                {o.kind} <Text>{`${o.namespace ? `${o.namespace}/` : ''}${o.name}`}</Text> <span class="muted">in {clusterPath(o.cluster)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {left && (
        <p class="muted">
          The plan has no room for {left.create} new, {left.update} changed and {left.delete} deleted objects more.
        </p>
      )}
    </Section>
  )
}

function Diff({ object }: { object: ObjectChange }) {
  return (
    <details>
      <summary>
        <Action action={object.action} /> {object.kind} <Text>{`${object.namespace ? `${object.namespace}/` : ''}${object.name}`}</Text> <span class="muted">in {clusterPath(object.cluster)}</span>
      </summary>
      <div class="diff" tabIndex={0} role="region" aria-label={`Difference of ${object.kind} ${object.namespace}/${object.name} in ${clusterPath(object.cluster)}`}>
        {object.diff.split('\n').map((line, i) => (
          <div key={i} class={line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : ''}>
            {visible(line)}
          </div>
        ))}
      </div>
    </details>
  )
}
