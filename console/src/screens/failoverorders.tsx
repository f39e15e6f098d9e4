import { Refusal } from '../api/client'
import { useClusters } from '../api/lists'
import { chosenOf, labelsOf, type Choice } from '../lib/failover'
import { link } from '../lib/route'
import { Badge, Empty, Fault } from '../ui/basics'
import { Field } from '../ui/field'
import { useFailing } from '../api/fleet'

interface OrdersProps {
  choice: Choice
  set: (change: Partial<Choice>) => void
  ready: boolean
  busy: boolean
  seen: boolean
  error: unknown
  look: () => void
}

/** Orders is the form of the desk: which clusters, where to, and why. */
export function Orders({ choice, set, ready, busy, seen, error, look }: OrdersProps) {
  const clusters = useClusters()
  const failing = useFailing()
  const lost = new Set((failing.data?.items ?? []).filter((i) => i.kind === 'cluster').map((i) => i.cluster))
  const all = (clusters.data ?? []).map(({ path, document }) => ({ path, labels: document.spec.labels ?? {}, drained: Boolean(document.status?.drained), lost: lost.has(path) }))
  if (clusters.data?.length === 0)
    return (
      <Empty title="There are no clusters yet.">
        <p>
          <a href={link(['publish'], { what: 'cluster' })}>Add a cluster</a>
        </p>
      </Empty>
    )
  return (
    <form
      class="card stack"
      aria-label="Failover"
      onSubmit={(e) => {
        e.preventDefault()
        if (ready) look()
      }}
    >
      <fieldset>
        <legend>What to do</legend>
        <div class="options">
          <label>
            <input type="radio" name="verb" checked={choice.verb === 'drain'} onChange={() => set({ verb: 'drain' })} />
            <span>take clusters out of public names (drain)</span>
          </label>
          <label>
            <input type="radio" name="verb" checked={choice.verb === 'undrain'} onChange={() => set({ verb: 'undrain' })} />
            <span>let them in again (undrain)</span>
          </label>
        </div>
      </fieldset>
      <Picks legend="Clusters" verb={choice.verb} labelled="And all clusters with labels" all={all} clusters={choice.clusters} text={choice.labels} set={(clusters, labels) => set({ clusters, labels })} />
      {choice.verb === 'drain' && (
        <details open={choice.to.length > 0 || choice.toLabels !== ''}>
          <summary>Undrain other clusters in the same step</summary>
          <div class="stack">
            <Picks legend="Drained clusters" verb="undrain" labelled="To all clusters with labels" all={all.filter((c) => c.drained)} clusters={choice.to} text={choice.toLabels} set={(to, toLabels) => set({ to, toLabels })} />
          </div>
        </details>
      )}
      <Field label="Why" hint="Signpost keeps the reason in the record of the failover.">
        {(p) => <input {...p} value={choice.reason} maxLength={1000} onInput={(e) => set({ reason: e.currentTarget.value })} />}
      </Field>
      <div class="bar">
        <button type="submit" class={seen ? '' : 'primary'} disabled={!ready || busy}>
          {busy ? 'Looking…' : 'Preview'}
        </button>
        <span class="muted small">A preview changes nothing.</span>
      </div>
      {error ? <NoFailovers error={error} /> : null}
    </form>
  )
}

interface Known {
  path: string
  labels: Record<string, string>
  drained: boolean
  lost: boolean
}

interface PicksProps {
  legend: string
  verb: Choice['verb']
  labelled: string
  all: Known[]
  clusters: string[]
  text: string
  set: (clusters: string[], text: string) => void
}

/** Picks chooses clusters, by ticks and by labels, and says which these are together. */
function Picks({ legend, verb, labelled, all, clusters, text, set }: PicksProps) {
  const labels = labelsOf(all)
  const chosen = chosenOf(clusters, text, all)
  const done = chosen.filter((path) => all.some((c) => c.path === path && c.drained === (verb === 'drain')))
  return (
    <>
      <fieldset>
        <legend>{legend}</legend>
        {all.length === 0 && <span class="muted">None.</span>}
        <div class="options aligned">
          {all.slice(0, 300).map(({ path, drained, lost }) => (
            <label key={path}>
              <input type="checkbox" checked={clusters.includes(path)} onChange={(e) => set(e.currentTarget.checked ? [...clusters, path] : clusters.filter((c) => c !== path), text)} />
              <span>
                {path} {drained && <Badge tone="note">drained</Badge>} {lost && <Badge tone="bad">unreachable</Badge>}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <Field label={labelled} hint="As key=value. Of several labels, a cluster needs all. These clusters are chosen besides the ticked ones.">
        {(p) => (
          <>
            <input {...p} list={`${p.id}-labels`} value={text} autocomplete="off" spellcheck={false} placeholder="key=value" onInput={(e) => set(clusters, e.currentTarget.value)} />
            <datalist id={`${p.id}-labels`}>
              {labels.slice(0, 200).map((label) => (
                <option key={label} value={label} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      {labels.length > 0 && (
        <div class="picks">
          <span class="muted small">There are</span>
          {labels.slice(0, 12).map((label) => (
            <button key={label} type="button" aria-pressed={text === label} onClick={() => set(clusters, text === label ? '' : label)}>
              {label}
            </button>
          ))}
          {labels.length > 12 && <span class="muted small">and more</span>}
        </div>
      )}
      {(clusters.length > 0 || text.trim() !== '') && (
        <p role="status">
          {chosen.length > 0 ? `Chosen: ${chosen.join(', ')}.` : 'No cluster is chosen: none has these labels.'}
          {done.length > 0 && ` ${verb === 'drain' ? 'Drained' : 'Not drained'} already: ${done.join(', ')}.`}
        </p>
      )}
    </>
  )
}

/** NoFailovers shows a refusal; a server without failovers still drains. */
function NoFailovers({ error }: { error: unknown }) {
  if (error instanceof Refusal && error.status === 404 && /no such path/.test(error.message))
    return (
      <p class="notice">
        This server knows no failovers. Drain clusters one by one, by <code>signpost drain</code>.
      </p>
    )
  return <Fault error={error} />
}
