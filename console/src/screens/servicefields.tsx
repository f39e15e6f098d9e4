import { useFailing } from '../api/fleet'
import { useServices, type ClusterAt } from '../api/lists'
import { chosenOf } from '../lib/failover'
import { words, type NameForm, type Typing } from '../lib/form'
import { ableClusters, serviceHint, labelOf, namespaceOf } from '../lib/services'
import { Badge, Text, useDelayed } from '../ui/basics'
import { Field, TextField } from '../ui/field'

const mostListed = 60 // clusters with a box each

/** ServiceFields chooses a Service, its clusters, and which of them are answered. */
export function ServiceFields({ missing, known: read, ...typing }: Typing<NameForm> & { missing: string[]; known: ClusterAt[] | undefined }) {
  const { form, set, faults } = typing
  const known = read ?? []
  const { able, unable } = ableClusters(known)
  const selector = form.selector.trim()
  const bySelector = selector ? chosenOf([], selector, known.map((c) => ({ path: c.path, labels: c.document.spec.labels ?? {} }))) : []
  const listed = [...new Set([...able, ...form.clusters])].sort()
  return (
    <>
      <Service {...typing} missing={missing} clusters={able} />
      {read && listed.length > 0 && listed.length <= mostListed ? (
        <Clusters {...typing} listed={listed} picked={selector ? bySelector : form.clusters} known={known} unable={unable} />
      ) : (
        <Field label="Clusters in which the Service is" hint="As provider/cluster, with commas or spaces between." faults={faults.of('/spec/clusters')}>
          {(p) => <input {...p} value={form.clusters.join(', ')} spellcheck={false} placeholder="dc/one, dc/two" onChange={(e) => set({ clusters: words(e.currentTarget.value) })} />}
        </Field>
      )}
      <TextField label="Or, in their place, all clusters with labels" hint={selector ? `${bySelector.length > 0 ? `Now: ${bySelector.join(', ')}.` : 'No cluster has these labels now.'} The name follows clusters that come and go.` : 'As key=value. The name then follows clusters that come and go.'} value={form.selector} spellcheck={false} placeholder="region=eu" set={(selector) => set({ selector })} />
      <Routing {...typing} />
    </>
  )
}

/** Clusters has a box for each cluster; a selector picks in their place. */
function Clusters({ form, set, faults, listed, picked, known, unable }: Typing<NameForm> & { listed: string[]; picked: string[]; known: ClusterAt[]; unable: string[] }) {
  const failing = useFailing()
  const lost = new Set((failing.data?.items ?? []).filter((i) => i.kind === 'cluster').map((i) => i.cluster))
  return (
    <fieldset>
      <legend>Clusters in which the Service is</legend>
      <div class="options aligned">
        {listed.map((path) => (
          <label key={path}>
            <input type="checkbox" checked={picked.includes(path)} disabled={Boolean(form.selector.trim())} onChange={(e) => set({ clusters: e.currentTarget.checked ? [...form.clusters, path] : form.clusters.filter((c) => c !== path) })} />
            <span>
              {path} {known.find((c) => c.path === path)?.document.status?.drained && <Badge tone="note">drained</Badge>} {lost.has(path) && <Badge tone="bad">unreachable</Badge>}
            </span>
          </label>
        ))}
      </div>
      {unable.length > 0 && <p class="muted small">Not offered, because Signpost reads no Services there: {unable.join(', ')}.</p>}
      {faults.of('/spec/clusters').map((f, i) => (
        <p key={i} class="error" role="alert">
          ✕ <Text>{f}</Text>
        </p>
      ))}
    </fieldset>
  )
}

/** Routing says which of the clusters are answered. */
function Routing({ form, set, faults }: Typing<NameForm>) {
  return (
    <>
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
      {form.policy === 'failover' && <TextField label="Order, best first" hint="Clusters that are left out come last." value={form.order} spellcheck={false} placeholder="dc/one, dc/two" set={(order) => set({ order })} />}
      {form.policy === 'weighted' && <TextField label="Weights" value={form.weights} spellcheck={false} placeholder="dc/one=90, dc/two=10" set={(weights) => set({ weights })} />}
      {form.policy === 'latency' && <TextField label="AWS region nearest to each cluster" value={form.regions} spellcheck={false} placeholder="dc/one=eu-central-1, dc/two=us-east-1" set={(regions) => set({ regions })} />}
      {form.policy === 'geo' && <TextField label="Locations that each cluster answers" hint="Several of one cluster with + between. Without default, clients elsewhere get no answer." value={form.locations} spellcheck={false} placeholder="dc/one=continent/EU+default, dc/two=country/US" set={(locations) => set({ locations })} />}
    </>
  )
}

/** Service offers the Services of the chosen clusters, or of all, and the clusters that have the one that is typed. */
function Service({ form, set, faults, missing, clusters }: Typing<NameForm> & { missing: string[]; clusters: string[] }) {
  const namespace = useDelayed(namespaceOf(form.service), 300)
  const from = form.clusters.length > 0 ? form.clusters : clusters
  const services = useServices(from, namespace)
  const typed = services.offered.find((o) => o.service === form.service.trim())
  const chosen = form.clusters.length > 0 || form.selector.trim() !== ''
  return (
    <>
      <Field label="Service" hint={serviceHint(services, from.length)} faults={missing.includes(form.service.trim()) ? [...faults.of('/spec/service'), 'no cluster has this Service'] : faults.of('/spec/service')}>
        {(p) => (
          <>
            <input {...p} list={`${p.id}-offered`} value={form.service} autocomplete="off" spellcheck={false} placeholder="web/frontend" onInput={(e) => set({ service: e.currentTarget.value })} />
            <datalist id={`${p.id}-offered`}>
              {services.offered.slice(0, 500).map((o) => (
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
