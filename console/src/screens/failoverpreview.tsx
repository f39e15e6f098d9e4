import { useEffect, useRef, useState } from 'preact/hooks'
import { caller, may } from '../api/session'
import { allowOf, changing, isForced, keptWord, movesWord, pathsOf, rulesOf, type Preview } from '../lib/failover'
import { plural, sentence } from '../lib/text'
import { duration } from '../lib/time'
import { Badge, Fault, Time } from '../ui/basics'
import { Moves } from '../ui/moves'
import { promise } from '../ui/planview'
import { ClusterLink, Told } from '../ui/subject'

/** Confirmed is the preview that a user confirms; with force, although it is refused. */
export interface Confirmed {
  token: string
  force: boolean
}

interface PreviewProps {
  preview: Preview
  busy: boolean
  error: unknown
  label: string
  override: string // the safety rules that do not count, with commas between
  confirm: (force: boolean) => void
  look: (override: string) => void
}

/** PreviewView is what a failover or its undoing would do, and the button that does it. */
export function PreviewView({ preview, busy, error, label, override, confirm, look }: PreviewProps) {
  const forced = isForced(preview.refusals)
  const [sure, setSure] = useState(false)
  const [knows, setKnows] = useState(false)
  const dark = preview.hosts.unhealthy > 0
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <div class="card" role="region" aria-label="Preview">
      <h2 ref={title} tabIndex={-1}>
        {label === 'Undo' ? 'Preview of the undo' : 'Preview'}
      </h2>
      <Summary preview={preview} />
      {preview.refusals.length > 0 && <Refusals preview={preview} sure={sure} setSure={setSure} look={look} />}
      <Cautions preview={preview} override={override} />
      <Moves names={preview.names} left={preview.namesLeftOut} followed={false} unreachable={preview.unreachable} />
      {dark && !error && (
        <label class="check warn">
          <input type="checkbox" checked={knows} onChange={(e) => setKnows(e.currentTarget.checked)} />
          <span>I know that {plural(preview.hosts.unhealthy, 'name')} will be left with clusters that are unhealthy or cannot be reached.</span>
        </label>
      )}
      {error ? (
        <Fault acted error={error}>
          <button type="button" onClick={() => look(override)}>
            Preview again
          </button>
        </Fault>
      ) : (
        (preview.refusals.length === 0 || sure) && (
          <div class="bar act">
            <button type="button" class={forced || dark ? 'danger' : 'primary'} disabled={busy || (dark && !knows) || preview.drain.length + preview.undrain.length === 0} onClick={() => confirm(forced)}>
              {label}{forced ? ' by force' : ''}: {movesWord(preview)}
            </button>
            <span class="muted small">{promise}</span>
          </div>
        )
      )}
    </div>
  )
}

/** Summary says which clusters are drained, and how many names move and with what they are left. */
function Summary({ preview }: { preview: Preview }) {
  const { counts, hosts } = preview
  return (
    <>
      <p>
        {preview.drain.length > 0 && <>Drains {pathsOf(preview.drain)}. </>}
        {preview.undrain.length > 0 && <>Undrains {pathsOf(preview.undrain)}. </>}
        {preview.unchanged.length > 0 && <>Already so: {pathsOf(preview.unchanged)}. </>}
        <b>{sentence(movesWord(preview))}.</b> {preview.cachesFor && <>Caches may hold old answers for {duration(preview.cachesFor)} more.</>}
      </p>
      <p class="picks">
        {hosts.none > 0 && <Badge tone="bad">{plural(hosts.none, 'name')} left without an address</Badge>}
        {hosts.unhealthy > 0 && <Badge tone="bad">{plural(hosts.unhealthy, 'name')} left with unhealthy or unreachable clusters only</Badge>}
        {hosts.one > 0 && <Badge tone="note">{plural(hosts.one, 'name')} left with one address</Badge>}
        {hosts.stay > 0 && <Badge tone="note">{plural(hosts.stay, 'name')} cannot change now</Badge>}
      </p>
      {keptWord(counts) && <p>{keptWord(counts)}</p>}
      {changing(preview) === 0 && preview.refusals.length === 0 && preview.drain.length > 0 && <p class="muted">{hosts.stay > 0 ? 'No answer changes now: see below which names cannot change, and why.' : 'No answer changes: each address of these clusters also comes from another cluster, is not answered now, or no public name uses it.'}</p>}
    </>
  )
}

/** Refusals are the safety rules in the way, and how to do it all the same. */
function Refusals({ preview, sure, setSure, look }: Pick<PreviewProps, 'preview' | 'look'> & { sure: boolean; setSure: (sure: boolean) => void }) {
  const { hosts, refusals } = preview
  const rules = rulesOf(refusals)
  const forced = isForced(refusals)
  const overrides = rules.length > 0 && may(caller.value, 'admin')
  return (
    <div class="fault" role="alert">
      <p class="strong">{forced ? 'It is refused, unless you force it.' : 'It is refused.'}</p>
      <ul>
        {refusals.map((r, i) => (
          <li key={i}>
            <Told>{r.detail}</Told>.{' '}
            <span class="muted">
              To do it all the same, <Told>{allowOf(r, { button: overrides, box: forced })}</Told>.
            </span>
          </li>
        ))}
      </ul>
      {overrides && (
        <p>
          <button type="button" onClick={() => look(rules.join(','))}>
            Preview without {rules.length === 1 ? 'the rule' : 'the rules'} {rules.join(' and ')}
          </button>
        </p>
      )}
      {forced && (
        <label class="check">
          <input type="checkbox" checked={sure} onChange={(e) => setSure(e.currentTarget.checked)} />
          <span>I want it all the same: {hosts.none > 0 ? `${plural(hosts.none, 'name')} will have no address` : 'no cluster will be left'}.</span>
        </label>
      )}
    </div>
  )
}

/** Cautions are clusters that cannot be reached, rules that are overridden, and warnings. */
function Cautions({ preview, override }: Pick<PreviewProps, 'preview' | 'override'>) {
  return (
    <>
      {preview.unreachable && (
        <div class="fault" role="alert">
          <p class="strong">Names would have addresses of clusters that cannot be reached now.</p>
          <ul>
            {preview.unreachable.map((u) => (
              <li key={u.cluster}>
                <ClusterLink cluster={u.cluster} /> is unreachable since <Time at={u.since} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {override && <p class="notice">Without the safety {override.includes(',') ? 'rules' : 'rule'} {override.replaceAll(',', ' and ')}, which you override as an administrator. The record keeps it.</p>}
      {preview.warnings.map((w, i) => (
        <p key={i} class="notice">
          <Told>{w}</Told>
        </p>
      ))}
    </>
  )
}
