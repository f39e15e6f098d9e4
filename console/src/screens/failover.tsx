import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { useClusters } from '../api/lists'
import { caller, may, settings } from '../api/session'
import { cli, curl } from '../lib/commands'
import { allowOf, answered, chosenOf, commandOf, danger, deskOf, emptyChoice, isForced, keepDesk, keptWord, labelsOf, lostOf, movesWord, namesOf, progress, rulesOf, specOf, titleOf, type Choice, type Failover, type Moved, type Preview } from '../lib/failover'
import { go, link, route } from '../lib/route'
import { plural, sentence } from '../lib/text'
import { duration, isPast } from '../lib/time'
import { clusterPath } from '../lib/words'
import { promise } from '../ui/planview'
import { Badge, CachesUntil, Copy, Empty, Fault, Loading, Section, Table, Text, Time, type Tone } from '../ui/basics'
import { Field } from '../ui/field'
import { ClusterLink, Told } from '../ui/subject'
import { useFailing } from './fleet'

const states: Record<Failover['state'], Tone> = { Moving: 'wait', Done: 'good', Superseded: 'plain', Unconfirmed: 'unknown', Failed: 'bad' }
const paths = (clusters: string[]) => clusters.map(clusterPath).join(', ')

/** FailoverPlace is the desk, or the record of a failover. */
export function FailoverPlace() {
  const id = route.value.path[1]
  return id ? <RecordScreen key={id} id={id} /> : <Desk />
}

function Desk() {
  const [choice, setChoice] = useState<Choice>(() => deskOf(route.value.query))
  useEffect(() => keepDesk(choice), [choice])
  const [override, setOverride] = useState('')
  const set = (change: Partial<Choice>) => {
    if (Object.keys(change).join() === 'reason') { // the preview stays as it is
      setChoice((old) => ({ ...old, ...change }))
      return
    }
    preview.reset()
    setOverride('')
    setChoice((old) => ({ ...old, ...change, seen: false }))
  }
  const spec = specOf(choice)
  const preview = useMutation({
    mutationFn: (rules: string) => request<Preview>('POST', '/v2/failovers', { query: { dryRun: 'true', override: rules }, body: spec }),
    onMutate: setOverride,
    onSuccess: () => setChoice((old) => ({ ...old, seen: true })),
  })
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: ({ token, force }: Confirmed) => request<Failover>('POST', '/v2/failovers', { query: { confirm: token, override, ...(force ? { force: 'true' } : {}) }, body: spec }),
    onSuccess: (made) => {
      keepDesk({ ...emptyChoice, verb: choice.verb })
      void client.invalidateQueries()
      go(link(['failover', made.id]))
    },
  })
  const look = (rules: string) => {
    act.reset()
    preview.mutate(rules)
  }
  const allowed = may(caller.value, 'operator')
  useEffect(() => {
    if (choice.seen && spec && allowed) look('') // the user comes back to the preview, or a link leads to it
  }, [])
  return (
    <>
      <div class="bar">
        <h1>Failover desk</h1>
        {spec && <Copy curl={curl('POST', '/v2/failovers?dryRun=true', spec, settings.value.anonymous)} cli={commandOf(spec, true)} />}
      </div>
      {allowed ? (
        <Orders choice={choice} set={set} ready={Boolean(spec)} busy={preview.isPending} seen={Boolean(preview.data)} error={preview.error} look={() => look('')} />
      ) : (
        <Empty title="Your role does not allow this.">
          <p>To fail over needs the role operator in all projects. Below is what others did.</p>
        </Empty>
      )}
      {preview.data && <PreviewView key={preview.data.token} preview={preview.data} busy={act.isPending} error={act.error} label={choice.verb === 'drain' ? 'Fail over' : 'Undrain'} override={override} confirm={(force) => act.mutate({ token: preview.data.token, force })} look={look} />}
      <Recent />
    </>
  )
}

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
function Orders({ choice, set, ready, busy, seen, error, look }: OrdersProps) {
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
          <summary>To clusters that are drained now: undrain them in the same step</summary>
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
        <div class="options">
          {all.slice(0, 300).map(({ path, drained, lost }) => (
            <label key={path}>
              <input type="checkbox" checked={clusters.includes(path)} onChange={(e) => set(e.currentTarget.checked ? [...clusters, path] : clusters.filter((c) => c !== path), text)} />
              <span>
                {path} {drained && <Badge tone="wait">drained</Badge>} {lost && <Badge tone="bad">unreachable</Badge>}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <Field label={labelled} hint="As key=value; of several, a cluster has all. They are added to the clusters that are ticked above.">
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

/** Confirmed is the preview that a user confirms; with force, although it is refused. */
interface Confirmed {
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

function PreviewView({ preview, busy, error, label, override, confirm, look }: PreviewProps) {
  const { counts } = preview
  const rules = rulesOf(preview.refusals)
  const forced = isForced(preview.refusals)
  const overrides = rules.length > 0 && may(caller.value, 'admin')
  const [sure, setSure] = useState(false)
  const [knows, setKnows] = useState(false)
  const whole = !preview.namesLeftOut // else only the server has counted, and that each type
  const names = (left: Moved['left'], n: number) => plural(whole ? namesOf(preview.names, left) : n, whole ? 'name' : 'record')
  const moving = movesWord(preview)
  const dark = counts.unhealthy > 0
  return (
    <div class="card" role="region" aria-label="Preview">
      <h2>Preview</h2>
      <p>
        {preview.drain.length > 0 && <>Drains {paths(preview.drain)}. </>}
        {preview.undrain.length > 0 && <>Undrains {paths(preview.undrain)}. </>}
        {preview.unchanged.length > 0 && <>Already so: {paths(preview.unchanged)}. </>}
        <b>{sentence(moving)}.</b> {preview.cachesFor && <>Caches may hold old answers for {duration(preview.cachesFor)} more.</>}
      </p>
      <p class="picks">
        {counts.none > 0 && <Badge tone="bad">{names('none', counts.none)} left without an address</Badge>}
        {dark && <Badge tone="bad">{names('unhealthy', counts.unhealthy)} left with unhealthy or unreachable clusters only</Badge>}
        {counts.one > 0 && <Badge tone="wait">{names('one', counts.one)} left with one address</Badge>}
        {counts.stay > 0 && <Badge tone="wait">{plural(whole ? new Set(preview.names.filter((m) => m.stays).map((m) => m.name)).size : counts.stay, 'name')} cannot move now</Badge>}
      </p>
      {keptWord(counts) && <p>{keptWord(counts)}</p>}
      {counts.names === 0 && preview.refusals.length === 0 && preview.drain.length > 0 && <p class="muted">No answer changes: each address of these clusters also comes from another cluster, or no public name uses it.</p>}
      {preview.refusals.length > 0 && (
        <div class="fault" role="alert">
          <p class="strong">{forced ? 'It is refused, unless you force it.' : 'It is refused.'}</p>
          <ul>
            {preview.refusals.map((r, i) => (
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
              <span>I want it all the same: {counts.none > 0 ? `${names('none', counts.none)} will have no address` : 'no cluster will be left'}.</span>
            </label>
          )}
        </div>
      )}
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
      <Moves names={preview.names} left={preview.namesLeftOut} followed={false} unreachable={preview.unreachable} />
      {dark && !error && (
        <label class="check warn">
          <input type="checkbox" checked={knows} onChange={(e) => setKnows(e.currentTarget.checked)} />
          <span>I know that {names('unhealthy', counts.unhealthy)} will be left with clusters that are unhealthy or cannot be reached.</span>
        </label>
      )}
      {error ? (
        <Fault error={error}>
          <button type="button" onClick={() => look(override)}>
            Preview again
          </button>
        </Fault>
      ) : (
        (preview.refusals.length === 0 || sure) && (
          <div class="bar">
            <button type="button" class={forced || dark ? 'danger' : 'primary'} disabled={busy || (dark && !knows) || preview.drain.length + preview.undrain.length === 0} onClick={() => confirm(forced)}>
              {label}{forced ? ' by force' : ''}: {moving}
            </button>
            <span class="muted small">{promise}</span>
          </div>
        )
      )}
    </div>
  )
}

function Moves({ names, left, followed, unreachable }: { names: Moved[]; left: number | undefined; followed: boolean; unreachable?: Preview['unreachable'] }) {
  const [all, setAll] = useState(false)
  if (names.length === 0) return null
  const rows = all ? names : names.slice(0, 100)
  return (
    <>
      <Table label="Names that move" head={followed ? ['Name', 'Type', 'From', 'To', 'Published', 'Answered', 'Caches until', 'Notes'] : ['Name', 'Type', 'From', 'To', 'Provider', 'Notes']}>
        {rows.map((m, i) => (
          <tr key={i}>
            <td>
              <a href={link(['names', m.name])}>
                <bdi>{m.name}</bdi>
              </a>
            </td>
            <td>{m.type}</td>
            <td class="mono">
              <Text>{m.before.join(' ') || 'none'}</Text>
            </td>
            <td class="mono">
              <Text>{m.after.join(' ') || 'none'}</Text>
            </td>
            {followed ? (
              <>
                <td>{m.published ? <Badge tone="good">yes</Badge> : <Badge tone="wait">not yet</Badge>}</td>
                <td>{m.answered ? <Badge tone="good">yes</Badge> : <Badge tone="wait">not yet</Badge>}</td>
                <td>
                  <CachesUntil at={m.cachesUntil} />
                </td>
              </>
            ) : (
              <td>{m.provider}</td>
            )}
            <td>
              {danger(m) && <Badge tone={m.left === 'one' ? 'wait' : 'bad'}>{danger(m)}</Badge>}{' '}
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
      {rows.length < names.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {names.length}
        </button>
      )}
      {left ? <p class="muted">{plural(left, 'record')} more than the answer can hold.</p> : null}
    </>
  )
}

/** RecordScreen follows a failover to its end, and undoes it. */
function RecordScreen({ id }: { id: string }) {
  const client = useQueryClient()
  const path = `/v2/failovers/${encodeURIComponent(id)}`
  const record = useQuery({
    queryKey: ['failover', id],
    refetchInterval: (query: { state: { data: Failover | undefined } }) => (query.state.data?.state === 'Moving' ? 1000 : 10_000),
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Failover> => request<Failover>('GET', path, { signal }),
  })
  const [override, setOverride] = useState('')
  const preview = useMutation({ mutationFn: (rules: string) => request<Preview>('POST', `${path}/revert`, { query: { dryRun: 'true', override: rules } }), onMutate: setOverride })
  const act = useMutation({
    mutationFn: ({ token, force }: Confirmed) => request<Failover>('POST', `${path}/revert`, { query: { confirm: token, override, ...(force ? { force: 'true' } : {}) } }),
    onSuccess: (made) => {
      void client.invalidateQueries()
      go(link(['failover', made.id]))
    },
  })
  const look = (rules: string) => {
    act.reset()
    preview.mutate(rules)
  }
  if (!record.data) return record.error ? <Fault error={record.error} /> : <Loading what="the failover" />
  const r = record.data
  const part = progress(r)
  return (
    <>
      <div class="bar">
        <h1>{titleOf(r)}</h1>
        <Badge tone={states[r.state]}>{r.state}</Badge>
        <Copy curl={curl('GET', path, undefined, settings.value.anonymous)} cli={cli('failovers', id)} />
        {may(caller.value, 'operator') && !r.revertedBy && (
          <button type="button" disabled={preview.isPending} onClick={() => preview.mutate('')}>
            Preview undoing it
          </button>
        )}
      </div>
      <p class={`verdict ${states[r.state]}`} role="status" aria-live="polite">
        {r.revertedBy && 'Undone by another failover since. This is how it went: '}
        {answered(r)} as {r.counts.names === 1 ? 'it is' : 'they are'} to be.{r.message && <Told>{` ${r.message}`}</Told>}
        {r.cachesUntil && (
          <>
            {' '}
            {isPast(r.cachesUntil) ? 'Caches have expired.' : `Caches may hold old answers until ${new Date(r.cachesUntil).toLocaleTimeString()}.`}
          </>
        )}
      </p>
      <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={`${Math.round(part * 100)} percent of the names are answered`}>
        <rect class="track" width="100" height="10" rx="2" />
        <rect class="value" width={part * 100} height="10" rx="2" />
      </svg>
      <p class="muted">
        Asked for <Time at={r.time} /> by <Text>{r.actor}</Text>
        {r.reason && (
          <>
            : <Text>{r.reason}</Text>
          </>
        )}
        {r.forced && '. It was forced'}
        {r.overridden && r.overridden.length > 0 && `. Without the safety rules ${r.overridden.join(' and ')}`}
        {r.revertedBy && (
          <>
            . Undone by <a href={link(['failover', r.revertedBy])}>another failover</a>
          </>
        )}
        {r.undone?.map((u) => (
          <Fragment key={u.cluster + u.since}>
            . <ClusterLink cluster={u.cluster} /> was changed back by {u.failover && (
              <>
                <a href={link(['failover', u.failover])}>a failover</a> of{' '}
              </>
            )}
            <Text>{u.actor}</Text>, <Time at={u.since} />
            {u.reason && (
              <>
                : <Text>{u.reason}</Text>
              </>
            )}
          </Fragment>
        ))}
        {r.revertOf && (
          <>
            . It undoes <a href={link(['failover', r.revertOf])}>another failover</a>
          </>
        )}
      </p>
      {preview.error && <Fault error={preview.error} />}
      {preview.data && <PreviewView key={preview.data.token} preview={preview.data} busy={act.isPending} error={act.error} label="Undo" override={override} confirm={(force) => act.mutate({ token: preview.data.token, force })} look={look} />}
      <div class="card">
        <Section title="Names" id="moves">
          {r.names.length > 0 ? <Moves names={r.names} left={r.namesLeftOut} followed={true} /> : <p class="muted">No name moves.</p>}
        </Section>
      </div>
    </>
  )
}

function Recent() {
  const records = useQuery({
    queryKey: ['failovers'],
    retry: false,
    refetchInterval: 10_000,
    queryFn: async ({ signal }) => {
      try {
        return (await request<{ items: Failover[] }>('GET', '/v2/failovers', { query: { limit: '200' }, signal })).items.reverse()
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return []
        throw error
      }
    },
  })
  if (records.error) return <Fault error={records.error} />
  if (!records.data) return null
  return (
    <div class="card">
      <Section title="Failovers so far" id="recent">
        {records.data.length === 0 ? (
          <p class="muted">None. Each one leaves a record here: who, why, and when each name was answered.</p>
        ) : (
          <Table label="Failovers" head={['When', 'State', 'Drained', 'Undrained', 'By', 'Why', 'Answered']}>
            {records.data.map((r) => (
              <tr key={r.id}>
                <td>
                  <a href={link(['failover', r.id])}>
                    <Time at={r.time} />
                  </a>
                </td>
                <td>
                  <Badge tone={states[r.state]}>{r.state}</Badge>
                </td>
                <td>{paths(r.drained) || '–'}</td>
                <td>{paths(r.undrained) || '–'}</td>
                <td>
                  <Text>{r.actor}</Text>
                </td>
                <td>
                  <Text>{r.reason ?? ''}</Text>
                </td>
                <td>
                  {r.answered} of {r.counts.names}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Section>
    </div>
  )
}
