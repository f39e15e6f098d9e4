import type { NameTurn } from '../api/types'
import { ttlTurn } from '../lib/plan'
import { Marked } from './targets'

/** TurnChanges shows which targets of a name came and went. */
export function TurnChanges({ turn }: { turn: NameTurn }) {
  return (
    <ul class="changes">
      {turn.changes.filter((c) => c.removed ?? c.added ?? c.ttl ?? c.leftOut).map((c, i) => (
        <li key={i} class="mono">
          <span class="muted">{c.name ?? ''} {c.type}</span>{' '}
          <Marked as="del" all={c.removed ?? []} />
          <Marked as="ins" all={c.added ?? []} />
          {c.ttl && <span>{ttlTurn(c.ttl)}</span>}
          {c.leftOut ? <span class="muted"> and {c.leftOut} more</span> : null}
        </li>
      ))}
    </ul>
  )
}
