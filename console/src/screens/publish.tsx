import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { Refusal, request, requestWhole } from '../api/client'
import { useClusters, useProjects, useProviders, useServices, type ClusterAt } from '../api/lists'
import { caller, may, settings } from '../api/session'
import type { DNSName, Event, Plan } from '../api/types'
import { documentAt } from '../lib/changes'
import { cli, curl } from '../lib/commands'
import { canonical, documentOf, emptyForm, faultsOf, formOf, missing, own, words, type NameForm } from '../lib/form'
import { chosenOf } from '../lib/failover'
import { effect, lacking } from '../lib/plan'
import { labelOf, namespaceOf } from '../lib/services'
import { go, link, route } from '../lib/route'
import { Badge, Copy, Empty, Fault, Loading, Section, stateTone, Text, useDelayed } from '../ui/basics'
import { Field } from '../ui/field'
import { PlanView, Sure } from '../ui/planview'
import { Told } from '../ui/subject'
import { ClusterForm } from './addcluster'
import { ProviderForm } from './addprovider'
import { useFailing } from './fleet'
import { useName } from './name'

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

export function PublishScreen() {
  const what = route.value.query.get('what') ?? 'name'
  if (!may(caller.value, 'editor', '*'))
    return (
      <Empty title="Your role does not allow this.">
        <p>To publish needs the role operator in a project, or editor if the project says so. An operator of Signpost can grant it.</p>
      </Empty>
    )
  const tabs = [
    ['name', 'A name'],
    ['provider', 'A provider'],
    ['cluster', 'A cluster'],
  ] as const
  return (
    <>
      <nav class="tabs" aria-label="What to publish">
        {tabs.filter(([key]) => key !== 'cluster' || may(caller.value, 'admin')).map(([key, label]) => (
          <a key={key} href={link(['publish'], { what: key })} aria-current={what === key ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {what === 'provider' ? <ProviderForm /> : what === 'cluster' ? <ClusterForm /> : <Load />}
    </>
  )
}

const latest = '500' // events in which an earlier document is looked for

/** Load reads a name that is to be changed; with a release, also its document of then. */
function Load() {
  const q = route.value.query
  const [project, host, release] = [q.get('project') ?? '', q.get('name') ?? '', Number(q.get('release') ?? 0)]
  const stored = useQuery({
    queryKey: ['stored', project, host],
    enabled: Boolean(project && host),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    meta: { live: false },
    queryFn: async ({ signal }) => {
      try {
        return await request<DNSName>('GET', `/v2/projects/${encodeURIComponent(project)}/names/${encodeURIComponent(host)}`, { signal })
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return null
        throw error
      }
    },
  })
  const earlier = useQuery({
    queryKey: ['earlier', project, host, release],
    enabled: Boolean(project && host && release),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    meta: { live: false },
    queryFn: async ({ signal }) => {
      const { items } = await request<{ items: Event[] }>('GET', `/v2/projects/${encodeURIComponent(project)}/events`, { query: { limit: latest }, signal })
      return documentAt(items, `projects/${project}/names/${host}`, release) ?? null
    },
  })
  const fault = stored.error ?? earlier.error
  if (fault) return <Fault error={fault} />
  if ((project && host && stored.data === undefined) || (release && earlier.data === undefined)) return <Loading what="the name" />
  if (release && !earlier.data)
    return (
      <Empty title={`The document of release ${release} cannot be read from the latest ${latest} events of the project.`}>
        <p>
          <a href={link(['publish'], { project, name: host })}>Change the name as it is now</a>
        </p>
      </Empty>
    )
  const shown = earlier.data ?? stored.data
  return <Form key={`${project}/${host}/${release}`} release={release} stored={stored.data ?? undefined} from={shown ?? undefined} start={shown ? formOf(project, { ...shown, metadata: { ...shown.metadata, name: host } }) : { ...emptyForm, project, name: host }} />
}

interface FormProps {
  stored: DNSName | undefined // as it is now
  from: DNSName | undefined // which has what the form does not show
  start: NameForm
  release: number // whose document it is; 0: of now
}

function Form({ stored, from, start, release }: FormProps) {
  const key = [start.project, start.name, ...(release ? [release] : [])].join('/')
  const [form, setForm] = useState(() => draftOf(key) ?? start)
  const [waiting, setWaiting] = useState<{ project: string; host: string } | null>(null)
  const client = useQueryClient()
  const set = (change: Partial<NameForm>) => setForm((old) => ({ ...old, ...change }))
  useEffect(() => sessionStorage.setItem(kept, JSON.stringify({ key, form })), [form])

  const projects = useProjects()
  const mine = (projects.data ?? []).filter((p) => may(caller.value, 'editor', p))
  useEffect(() => {
    const [only, ...others] = mine
    if (!form.project && only && others.length === 0) set({ project: only })
  }, [projects.data])
  const providers = useProviders(form.project)
  const clusters = useClusters()

  const late = useDelayed(form, 350)
  const lacks = missing(late)
  const document = documentOf(late, from)
  const path = `/v2/projects/${encodeURIComponent(late.project)}/names/${encodeURIComponent(document.metadata.name)}`
  const match: Record<string, string> = stored ? { 'If-Match': `"${stored.metadata.revision}"` } : {}
  const plan = useQuery({
    queryKey: ['dry', path, document],
    enabled: lacks.length === 0 && !waiting,
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
  const isName = canonical(form.name)
  return (
    <div class="columns">
      <form
        class="card stack"
        aria-label="The name"
        onSubmit={(e) => {
          e.preventDefault()
          if (ready && (!empty || sure)) publish.mutate(plan.data.token)
        }}
      >
        <h1>{release ? `Go back to release ${release}` : stored ? 'Change a name' : 'Publish a name'}</h1>
        <Field label="Project" hint={projects.error ? 'The projects cannot be listed: type the name.' : ''}>
          {(p) =>
            projects.error ? (
              <input {...p} value={form.project} onInput={(e) => set({ project: e.currentTarget.value })} />
            ) : (
              <select {...p} value={form.project} disabled={Boolean(stored)} onChange={(e) => set({ project: e.currentTarget.value, provider: '' })}>
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
        {ready && <Sure plan={plan.data} sure={sure} set={setSure} />}
        <div class="bar">
          <button type="submit" class={empty ? 'danger' : 'primary'} disabled={!ready || (empty && !sure) || publish.isPending}>
            {publish.isPending ? 'Publishing…' : ready ? `${verb}${empty ? ' without the Service' : ''}: ${effect(plan.data)}` : 'Publish'}
          </button>
          {lacks.length === 0 && <Copy curl={curl('PUT', path, document, settings.value.anonymous)} cli={publishCommand(late, document)} />}
        </div>
      </form>
      <div class="card" aria-live="polite" aria-label="The plan" role="region">
        <h2>What will happen</h2>
        {lacks.length > 0 ? (
          <p class="muted">The plan appears here as you type. It still needs {lacks.join(', ')}.</p>
        ) : refusal ? (
          <>
            {faults.others.length > 0 || errors.length === 0 ? <Fault error={errors.length > 0 && refusal instanceof Refusal ? new Refusal(refusal.status, { detail: refusal.message, errors: faults.others }) : refusal} /> : <p class="notice">Some fields need a change: see beside them.</p>}
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
    </div>
  )
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

type Faults = ReturnType<typeof faultsOf>

function ServiceFields({ form, set, faults, missing, known: read }: { form: NameForm; set: (change: Partial<NameForm>) => void; faults: Faults; missing: string[]; known: ClusterAt[] | undefined }) {
  const known = read ?? []
  const clusters = known.map((c) => c.path)
  const failing = useFailing()
  const lost = new Set((failing.data?.items ?? []).filter((i) => i.kind === 'cluster').map((i) => i.cluster))
  const bySelector = form.selector.trim() ? chosenOf([], form.selector, known.map((c) => ({ path: c.path, labels: c.document.spec.labels ?? {} }))) : []
  const picked = form.selector.trim() ? bySelector : form.clusters
  const listed = [...new Set([...clusters, ...form.clusters])].sort()
  return (
    <>
      <Service form={form} set={set} faults={faults} missing={missing} clusters={clusters} />
      {read && listed.length > 0 && listed.length <= 60 ? (
        <fieldset>
          <legend>Clusters in which the Service is</legend>
          <div class="options">
            {listed.map((path) => (
              <label key={path}>
                <input type="checkbox" checked={picked.includes(path)} disabled={Boolean(form.selector.trim())} onChange={(e) => set({ clusters: e.currentTarget.checked ? [...form.clusters, path] : form.clusters.filter((c) => c !== path) })} />
                <span>
                  {path} {known.find((c) => c.path === path)?.document.status?.drained && <Badge tone="wait">drained</Badge>} {lost.has(path) && <Badge tone="bad">unreachable</Badge>}
                </span>
              </label>
            ))}
          </div>
          {faults.of('/spec/clusters').map((f, i) => (
            <p key={i} class="error" role="alert">
              ✕ <Text>{f}</Text>
            </p>
          ))}
        </fieldset>
      ) : (
        <Field label="Clusters in which the Service is" hint="As provider/cluster, with commas or spaces between." faults={faults.of('/spec/clusters')}>
          {(p) => <input {...p} value={form.clusters.join(', ')} spellcheck={false} placeholder="dc/one, dc/two" onChange={(e) => set({ clusters: words(e.currentTarget.value) })} />}
        </Field>
      )}
      <Field label="Or, in their place, all clusters with labels" hint={form.selector.trim() ? `${bySelector.length > 0 ? `Now: ${bySelector.join(', ')}.` : 'No cluster has these labels now.'} The name follows clusters that come and go.` : 'As key=value. The name then follows clusters that come and go.'}>
        {(p) => <input {...p} value={form.selector} spellcheck={false} placeholder="region=eu" onInput={(e) => set({ selector: e.currentTarget.value })} />}
      </Field>
      <Field label="Answers" faults={faults.of('/spec/routing')}>
        {(p) => (
          <select {...p} value={form.policy} onChange={(e) => set({ policy: e.currentTarget.value as NameForm['policy'] })}>
            <option value="multivalue">all healthy clusters</option>
            <option value="failover">the first healthy cluster in an order</option>
            <option value="weighted">one cluster by weight (provider aws only)</option>
            <option value="latency">the nearest region (provider aws only)</option>
            <option value="geo">by the client's location (provider aws only)</option>
          </select>
        )}
      </Field>
      {form.policy === 'failover' && (
        <Field label="Order, best first" hint="Clusters that are left out come last.">
          {(p) => <input {...p} value={form.order} spellcheck={false} placeholder="dc/one, dc/two" onInput={(e) => set({ order: e.currentTarget.value })} />}
        </Field>
      )}
      {form.policy === 'weighted' && (
        <Field label="Weights">{(p) => <input {...p} value={form.weights} spellcheck={false} placeholder="dc/one=90, dc/two=10" onInput={(e) => set({ weights: e.currentTarget.value })} />}</Field>
      )}
      {form.policy === 'latency' && (
        <Field label="AWS region nearest to each cluster">{(p) => <input {...p} value={form.regions} spellcheck={false} placeholder="dc/one=eu-central-1, dc/two=us-east-1" onInput={(e) => set({ regions: e.currentTarget.value })} />}</Field>
      )}
      {form.policy === 'geo' && (
        <Field label="Locations that each cluster answers" hint="Several of one cluster with + between. Without default, clients elsewhere get no answer.">
          {(p) => <input {...p} value={form.locations} spellcheck={false} placeholder="dc/one=continent/EU+default, dc/two=country/US" onInput={(e) => set({ locations: e.currentTarget.value })} />}
        </Field>
      )}
    </>
  )
}

/** Service offers the Services of the chosen clusters, or of all, and the clusters that have the one that is typed. */
function Service({ form, set, faults, missing, clusters }: { form: NameForm; set: (change: Partial<NameForm>) => void; faults: Faults; missing: string[]; clusters: string[] }) {
  const namespace = useDelayed(namespaceOf(form.service), 300)
  const from = form.clusters.length > 0 ? form.clusters : clusters
  const { offered, asked, more, silent } = useServices(from, namespace)
  const typed = offered.find((o) => o.service === form.service.trim())
  const chosen = form.clusters.length > 0 || form.selector.trim() !== ''
  const hint = [
    offered.length > 0 ? `As namespace/name; ${offered.length.toLocaleString('en')} to choose from${more ? ', and more: type a namespace and /' : ''}.` : 'As namespace/name.',
    silent.length > 0 && (offered.length === 0 ? `None of the ${asked < from.length ? `first ${asked} ` : ''}clusters lists its Services to you here, so type the name; a directory never can.` : `${silent.length > 3 ? `${silent.length} of the ${asked} clusters asked` : silent.join(', ')} cannot list Services.`),
  ].filter(Boolean).join(' ')
  return (
    <>
      <Field label="Service" hint={hint} faults={missing.includes(form.service.trim()) ? [...faults.of('/spec/service'), 'no cluster has this Service'] : faults.of('/spec/service')}>
        {(p) => (
          <>
            <input {...p} list={`${p.id}-offered`} value={form.service} autocomplete="off" spellcheck={false} placeholder="web/frontend" onInput={(e) => set({ service: e.currentTarget.value })} />
            <datalist id={`${p.id}-offered`}>
              {offered.slice(0, 500).map((o) => (
                <option key={o.service} value={o.service}>
                  {labelOf(o)}
                </option>
              ))}
            </datalist>
          </>
        )}
      </Field>
      {typed && !chosen && (
        <button type="button" onClick={() => set({ clusters: typed.clusters })}>
          Use it in {typed.clusters.join(', ')}
        </button>
      )}
    </>
  )
}

/** Published follows a name until its servers answer it. */
function Published({ project, host, another }: { project: string; host: string; another: () => void }) {
  const name = useQuery({
    queryKey: ['published', project, host],
    refetchInterval: 1000,
    queryFn: ({ signal }) => request<DNSName>('GET', `/v2/projects/${encodeURIComponent(project)}/names/${encodeURIComponent(host)}`, { signal }),
  })
  const status = name.data?.status
  const path = `projects/${project}/names/${host}`
  const release = useName(host).data?.owners.find((o) => o.owner === path)?.release ?? 0
  const isNew = name.data?.metadata.revision === 1
  const steps: [string, string][] = status ? [['Accepted', 'True'], ['Written for the publisher', status.state === 'Instantiated' ? 'True' : 'False'], ['Published', status.published], ['Answered by its servers', status.verified]] : []
  return (
    <Section title={status?.verified === 'True' ? `${host} is answered by its servers` : `${host} is accepted`} id="published">
      <div class="card" role="status" aria-live="polite">
        {name.error && <Fault error={name.error} />}
        {status && <Badge tone={stateTone(status.state)}>{status.state}</Badge>}
        <ol class="timeline">
          {steps.map(([step, truth]) => (
            <li key={step}>
              <span>
                {step} <Badge tone={truth === 'True' ? 'good' : truth === 'False' ? 'wait' : 'unknown'}>{truth === 'True' ? 'yes' : truth === 'False' ? 'not yet' : 'not known yet'}</Badge>
              </span>
            </li>
          ))}
        </ol>
        {status?.message && status.verified !== 'True' && (
          <p class="muted">
            <Told>{status.message}</Told>
          </p>
        )}
      </div>
      <div class="bar">
        <a class="button primary" href={link(['names', host])}>
          Look at the name
        </a>
        {isNew ? (
          <a class="button risky" href={link(['plan'], { owner: path, for: 'delete' })}>
            Undo: unpublish it
          </a>
        ) : release > 1 ? (
          <a class="button" href={link(['publish'], { project, name: host, release: String(release - 1) })}>
            Undo this change
          </a>
        ) : null}
        <button type="button" onClick={another}>
          Publish another one
        </button>
      </div>
    </Section>
  )
}
