import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { Refusal } from '../api/client'
import { cli, curl } from '../lib/commands'
import { publishCommand } from '../lib/form'
import { dropForm } from '../lib/kept'
import { link } from '../lib/route'
import { effect, lacking } from '../lib/plan'
import { Copy, Fault, Loading } from '../ui/basics'
import { PlanView, Sure } from '../ui/planview'
import type { Publishing } from './publishing'

/** PlanCard shows the plan of what is typed, and the button that does this plan. */
export function PlanCard({ publishing, verb }: { publishing: Publishing; verb: string }) {
  const { late, lacks, document, path, restores, publish, ready } = publishing
  const [sure, setSure] = useState(false)
  useEffect(() => setSure(false), [late])
  const empty = ready !== undefined && lacking(ready) !== ''
  return (
    <div class="card" aria-label="The plan" role="region">
      <h2 id="plan" tabIndex={-1}>
        What will happen
      </h2>
      <div class="stack" aria-live="polite">
        <Outcome publishing={publishing} />
      </div>
      {ready && <Sure plan={ready} sure={sure} set={setSure} />}
      <div class="bar">
        <button type="button" class={empty ? 'danger' : 'primary'} disabled={!ready || (empty && !sure) || publish.isPending} onClick={() => ready && publish.mutate(ready.token)}>
          {publish.isPending ? 'Publishing…' : ready ? `${verb}${empty ? ' without the Service' : ''}: ${effect(ready)}` : 'Publish'}
        </button>
        {lacks.length === 0 && <Copy curl={curl('PUT', restores ? `${path}?restores=${restores}` : path, document)} cli={restores ? cli('rollback', document.metadata.name, '--project', late.project, '--to', String(restores)) : publishCommand(late, document)} />}
      </div>
    </div>
  )
}

/** Outcome is the plan, or why there is none. */
function Outcome({ publishing }: { publishing: Publishing }) {
  const { late, lacks, plan, refusal, settled } = publishing
  if (lacks.length > 0) return <p class="muted">The plan appears here as you type. It still needs {lacks.join(', ')}.</p>
  if (refusal) return <Refused publishing={publishing} />
  if (!plan) return <Loading what="the plan" />
  return (
    <>
      {!settled && (
        <p class="muted small" role="status">
          Planning…
        </p>
      )}
      <PlanView plan={plan} project={late.project} />
    </>
  )
}

/** Refused says why the server refuses, if no field does. */
function Refused({ publishing: { late, document, publish, refusal, errors, faults, taken } }: { publishing: Publishing }) {
  const client = useQueryClient()
  const readAgain = () => {
    dropForm()
    void client.resetQueries({ queryKey: ['stored'] })
  }
  const isRefusal = refusal instanceof Refusal
  if (taken)
    return (
      <p class="notice">
        {document.metadata.name} is published already. <a href={link(['publish'], { project: late.project, name: document.metadata.name })}>Change it</a>
      </p>
    )
  return (
    <>
      {faults.others.length > 0 || errors.length === 0 ? <Fault acted={Boolean(publish.error)} error={errors.length > 0 && isRefusal ? new Refusal(refusal.status, { detail: refusal.message, errors: faults.others }) : refusal} /> : <p class="notice">Some fields need a change: see beside them.</p>}
      {isRefusal && refusal.status === 412 && (
        <div class="bar">
          <button type="button" onClick={readAgain}>
            Read the name as it is now
          </button>
        </div>
      )}
    </>
  )
}
