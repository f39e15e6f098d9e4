import type { NameTurn } from '../api/types'
import { ttlTurn } from '../lib/plan'
import { Text } from './basics'

/** TurnChanges shows which targets of a name came and went. */
export function TurnChanges({ turn }: { turn: NameTurn }) {
  return (
    <ul class="changes">
      {turn.changes.map((c, i) => (
        <li key={i} class="mono">
          <span class="muted">{c.name ?? ''} {c.type}</span>{' '}
          {(c.removed ?? []).map((t) => (
            <del key={t}>
              <Text>{t}</Text>
            </del>
          ))}
          {(c.added ?? []).map((t) => (
            <ins key={t}>
              <Text>{t}</Text>
            </ins>
          ))}
          {c.ttl && <span>{ttlTurn(c.ttl)}</span>}
          {c.leftOut ? <span class="muted"> and {c.leftOut} more</span> : null}
        </li>
      ))}
    </ul>
  )
}
