import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Refusal, request, requestWhole } from '../api/client'
import { useClusters, useProjects, useProviders } from '../api/lists'
import { caller, may } from '../api/session'
import type { DNSName, Plan } from '../api/types'
import { cli, curl } from '../lib/commands'
import { canonical, documentOf, emptyForm, faultsOf, isStrange, missing, own, words, type NameForm } from '../lib/form'
import { effect, lacking } from '../lib/plan'
import { go, link } from '../lib/route'
import { visible } from '../lib/text'
import { Copy, Fault, Loading, useDelayed } from '../ui/basics'
import { Field } from '../ui/field'
import { PlanView, Sure } from '../ui/planview'
import { Published } from './published'
import { ServiceFields } from './servicefields'

const kept = 'signpost.draft'

/** draftOf is what was typed before a reload or a sign-in at the issuer took the page away. */
function draftOf(key: string): NameForm | undefined {
  try {
    const { key: of, form } = JSON.parse(sessionStorage.getItem(kept) ?? '{}') as { key?: string; form?: NameForm }
    return of === key ? { ...emptyForm, ...form } : undefined
  } catch {
    return undefined
  }
}

interface FormProps {
  stored: DNSName | undefined // as it is now
  from: DNSName | undefined // which has what the form does not show
  start: NameForm
  release: number // whose document it is; 0: of now
}

/** Form is the form of a name, with the plan of what is typed, and the button that does this plan. */
export function Form({ stored, from, start, release }: FormProps) {
  const key = [start.project, start.name, ...(release ? [release] : [])].join('/')
  const [form, setForm] = useState(() => draftOf(key) ?? start)
  const [waiting, setWaiting] = useState<{ project: string; host: string } | null>(null)
  const client = useQueryClient()
  const set = (change: Partial<NameForm>) => setForm((old) => ({ ...old, ...change }))
  // Before the next event, such as a reload, can come.
  useLayoutEffect(() => sessionStorage.setItem(kept, JSON.stringify({ key, form })), [form])

  const projects = useProjects()
  const mine = (projects.data ?? []).filter((p) => may(caller.value, 'editor', p))
  useEffect(() => {
    const [only, ...others] = mine
    if (!form.project && only && others.length === 0) set({ project: only })
  }, [projects.data])
  const providers = useProviders(form.project)
  const clusters = useClusters()

  const late = useDelayed(form, 350)
  const known = stored || !projects.data ? undefined : mine
  const lacks = missing({ ...late, project: isStrange(late.project, known) ? '' : late.project })
  const document = documentOf(late, from)
  const path = `/v2/projects/${encodeURIComponent(late.project)}/names/${encodeURIComponent(document.metadata.name)}`
  const match: Record<string, string> = stored ? { 'If-Match': `"${stored.metadata.revision}"` } : {}
  const plan = useQuery({
    queryKey: ['dry', path, document],
    enabled: lacks.length === 0 && !waiting && !projects.isPending,
    retry: (n, error) => n < 5 && error instanceof Refusal && [0, 429, 503].includes(error.status),
    meta: { live: false },
    staleTime: 10_000,
    gcTime: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<Plan>('PUT', path, { query: { dryRun: 'true' }, body: document, headers: match, signal }),
  })
  const publish = useMutation({
    mutationFn: (token: string) => requestWhole<DNSName>('PUT', path, { query: { confirm: token }, body: document, headers: match }),
    onSuccess: () => {
      sessionStorage.removeItem(kept)
      setWaiting({ project: late.project, host: document.metadata.name })
      void client.invalidateQueries()
    },
  })
  const [sure, setSure] = useState(false)
  useEffect(() => {
    publish.reset()
    setSure(false)
  }, [late])

  const refusal = publish.error ?? plan.error
  const errors = refusal instanceof Refusal ? [...refusal.errors, ...(refusal.plan?.errors ?? [])] : (plan.data?.errors ?? [])
  const fields = ['/metadata/name', '/spec/service', '/spec/clusters', '/spec/addresses', '/spec/cname', '/spec/provider', '/spec/ttl', '/spec/routing']
  const faults = lacks.length === 0 ? faultsOf(own(errors, `projects/${late.project}/names/${document.metadata.name}`), fields) : faultsOf([], fields)
  const settled = form === late && !plan.isFetching && !plan.isPlaceholderData
  const ready = lacks.length === 0 && settled && plan.data && plan.data.errors.length === 0 && !plan.error
  const empty = Boolean(ready && lacking(plan.data))
  const verb = stored ? 'Change' : 'Publish'

  const another = () => {
    setForm({ ...emptyForm, project: form.project })
    setWaiting(null)
    go(link(['publish']))
  }
  if (waiting) return <Published {...waiting} another={another} />
  const strange = isStrange(form.project, known)
  const isName = canonical(form.name)
  return (
    <form class="columns" aria-label="The name" onSubmit={(e) => e.preventDefault()} onKeyDown={toPlan}>
      <div class="card stack">
        <h1>{release ? `Go back to release ${release}` : stored ? 'Change a name' : 'Publish a name'}</h1>
        <Field label="Project" hint={projects.error ? 'The projects cannot be listed: type the name.' : ''} faults={strange ? [`There is no project ${visible(form.project)} in which you may publish. Choose one.`] : []}>
          {(p) =>
            projects.error ? (
              <input {...p} value={form.project} onInput={(e) => set({ project: e.currentTarget.value })} />
            ) : (
              <select {...p} value={strange ? '' : form.project} disabled={Boolean(stored)} onChange={(e) => set({ project: e.currentTarget.value, provider: '' })}>
                <option value="">{projects.data && mine.length === 0 ? 'none in which you may publish' : 'choose one'}</option>
                {mine.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )
          }
        </Field>
        <Field label="Host name" hint={isName && isName !== form.name.trim() ? `As DNS has it: ${isName}` : 'As in www.shop.example; *. may begin it.'} faults={faults.of('/metadata/name')}>
          {(p) => <input {...p} value={form.name} readOnly={Boolean(stored)} autocomplete="off" spellcheck={false} onInput={(e) => set({ name: e.currentTarget.value })} />}
        </Field>
        <fieldset>
          <legend>It leads to</legend>
          <div class="options">
            {(
              [
                ['service', 'a Service in clusters'],
                ['addresses', 'fixed addresses'],
                ['cname', 'another host name'],
              ] as const
            ).map(([kind, label]) => (
              <label key={kind}>
                <input type="radio" name="kind" checked={form.kind === kind} onChange={() => set({ kind })} />
                <span>{label}</span>
              </label>
            ))}
          </div>
        </fieldset>
        {form.kind === 'service' && <ServiceFields form={form} set={set} faults={faults} missing={(ready && plan.data.missingServices) || []} known={clusters.data} />}
        {form.kind === 'addresses' && (
          <Field label="Addresses" hint="IPv4 and IPv6 addresses, with commas or spaces between." faults={faults.of('/spec/addresses')}>
            {(p) => <input {...p} class="mono" value={form.addresses} autocomplete="off" spellcheck={false} placeholder="203.0.113.7, 2001:db8::7" onInput={(e) => set({ addresses: e.currentTarget.value })} />}
          </Field>
        )}
        {form.kind === 'cname' && (
          <Field label="Leads to" faults={faults.of('/spec/cname')}>
            {(p) => <input {...p} value={form.cname} autocomplete="off" spellcheck={false} placeholder="shop.cdn.example" onInput={(e) => set({ cname: e.currentTarget.value })} />}
          </Field>
        )}
        <Field label="Provider" hint={providers.data?.length === 0 ? 'The project has no provider yet; the tab "A provider" makes one.' : 'Not needed if one provider of the project serves the name.'} faults={faults.of('/spec/provider')}>
          {(p) => (
            <select {...p} value={form.provider} onChange={(e) => set({ provider: e.currentTarget.value })}>
              <option value="">the one that serves the name</option>
              {[...new Set([...(providers.data ?? []).map((d) => d.metadata.name), form.provider].filter(Boolean))].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="TTL in seconds" hint="How long resolvers keep an answer; empty for the default of the DNS provider." faults={faults.of('/spec/ttl')}>
          {(p) => <input {...p} inputMode="numeric" value={form.ttl} autocomplete="off" onInput={(e) => set({ ttl: e.currentTarget.value })} />}
        </Field>
        {from && (from.spec.health ?? from.spec.recordTypes ?? from.spec.records ?? from.spec.scope) && <p class="muted small">Health, scope, record types and records of other types stay as they are; the API and the command line change them.</p>}
      </div>
      <div class="card" aria-label="The plan" role="region">
        <h2 id="plan" tabIndex={-1}>
          What will happen
        </h2>
        <div class="stack" aria-live="polite">
          {lacks.length > 0 ? (
            <p class="muted">The plan appears here as you type. It still needs {lacks.join(', ')}.</p>
          ) : refusal ? (
            <>
              {faults.others.length > 0 || errors.length === 0 ? <Fault acted={Boolean(publish.error)} error={errors.length > 0 && refusal instanceof Refusal ? new Refusal(refusal.status, { detail: refusal.message, errors: faults.others }) : refusal} /> : <p class="notice">Some fields need a change: see beside them.</p>}
              {refusal instanceof Refusal && refusal.status === 412 && (
                <button type="button" onClick={() => (sessionStorage.removeItem(kept), void client.resetQueries({ queryKey: ['stored'] }))}>
                  Read the name as it is now
                </button>
              )}
            </>
          ) : plan.data ? (
            <>
              {!settled && (
                <p class="muted small" role="status">
                  Planning…
                </p>
              )}
              <PlanView plan={plan.data} project={late.project} />
            </>
          ) : (
            <Loading what="the plan" />
          )}
        </div>
        {ready && <Sure plan={plan.data} sure={sure} set={setSure} />}
        <div class="bar">
          <button type="button" class={empty ? 'danger' : 'primary'} disabled={!ready || (empty && !sure) || publish.isPending} onClick={() => ready && publish.mutate(plan.data.token)}>
            {publish.isPending ? 'Publishing…' : ready ? `${verb}${empty ? ' without the Service' : ''}: ${effect(plan.data)}` : 'Publish'}
          </button>
          {lacks.length === 0 && <Copy curl={curl('PUT', path, document)} cli={publishCommand(late, document)} />}
        </div>
      </div>
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

function publishCommand(form: NameForm, document: DNSName): string {
  const { spec } = document
  return cli(
    'publish',
    document.metadata.name,
    ...(form.kind === 'service' ? ['--service', spec.service ?? ''] : form.kind === 'cname' ? ['--cname', spec.cname ?? ''] : ['--address', (spec.addresses ?? []).join(',')]),
    ...(Array.isArray(spec.clusters) && spec.clusters.length > 0 ? ['--clusters', spec.clusters.join(',')] : []),
    ...(form.kind === 'service' && form.selector ? ['--selector', words(form.selector).join(',')] : []),
    ...(spec.provider ? ['--provider', spec.provider] : []),
    ...(spec.ttl ? ['--ttl', String(spec.ttl)] : []),
    '--project',
    form.project,
  )
}
