import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { useOwnProjects } from '../api/lists'
import type { DNSName } from '../api/types'
import { emptyForm, isStrange, missing, type NameForm } from '../lib/form'
import { keepForm, keptForm } from '../lib/kept'
import { go, link } from '../lib/route'
import { AnswerFields, HostField, ProjectField, TargetFields } from './namefields'
import { Published } from './published'
import { PlanCard } from './publishplan'
import { usePublishing } from './publishing'

interface FormProps {
  stored: DNSName | undefined // as it is now
  from: DNSName | undefined // which has what the form does not show
  start: NameForm
  release: number // whose document it is; 0: of now
}

/** Form is the form of a name, with the plan of what is typed, and the button that does this plan. */
export function Form({ stored, from, start, release }: FormProps) {
  const key = [start.project, start.name, ...(release ? [release] : [])].join('/')
  const [form, setForm] = useState(() => keptForm(key) ?? start)
  const set = (change: Partial<NameForm>) => setForm((old) => ({ ...old, ...change }))
  useLayoutEffect(() => keepForm(key, form), [form]) // before the next event, such as a reload, can come

  const { projects, mine } = useOwnProjects()
  useEffect(() => {
    const [only, ...others] = mine
    if (!form.project && only && others.length === 0) set({ project: only })
  }, [projects.data])
  const known = stored || !projects.data ? undefined : mine
  const publishing = usePublishing(form, { stored, from, lacking: (late) => missing({ ...late, project: isStrange(late.project, known) ? '' : late.project }), waits: projects.isPending, back: release ? { release, start } : undefined })
  const { faults, published, ready } = publishing
  const typing = { form, set, faults }

  const another = () => {
    setForm({ ...emptyForm, project: form.project })
    publishing.restart()
    go(link(['publish']))
  }
  if (published) return <Published {...published} another={another} />
  return (
    <form class="columns" aria-label="The name" onSubmit={(e) => e.preventDefault()} onKeyDown={toPlan}>
      <div class="card stack">
        <h1>{release ? `Go back to release ${release}` : stored ? 'Change a name' : 'Publish a name'}</h1>
        <ProjectField {...typing} fixed={Boolean(stored)} strange={isStrange(form.project, known)} />
        <HostField {...typing} fixed={Boolean(stored)} />
        <TargetFields {...typing} missing={ready?.missingServices ?? []} />
        <AnswerFields {...typing} />
        {from && (from.spec.health ?? from.spec.recordTypes ?? from.spec.records ?? from.spec.scope) && <p class="muted small">Health, scope, record types and records of other types stay as they are; the API and the command line change them.</p>}
      </div>
      <PlanCard publishing={publishing} verb={!stored ? 'Publish' : publishing.restores ? 'Go back' : 'Change'} />
    </form>
  )
}

/** toPlan leads from a field to the plan by Enter: nobody publishes without having come by it. */
function toPlan(event: KeyboardEvent) {
  const at = event.target
  if (event.key !== 'Enter' || !(at instanceof HTMLInputElement) || ['checkbox', 'radio'].includes(at.type)) return
  event.preventDefault()
  document.getElementById('plan')?.focus()
}
