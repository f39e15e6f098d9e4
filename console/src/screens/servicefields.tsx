import { useServices, type ClusterAt } from '../api/lists'
import { chosenOf } from '../lib/failover'
import { words, type faultsOf, type NameForm } from '../lib/form'
import { ableClusters, labelOf, namespaceOf } from '../lib/services'
import { Badge, Text, useDelayed } from '../ui/basics'
import { Field } from '../ui/field'
import { useFailing } from '../api/fleet'

type Faults = ReturnType<typeof faultsOf>

/** ServiceFields chooses a Service, its clusters, and which of them are answered. */
export function ServiceFields({ form, set, faults, missing, known: read }: { form: NameForm; set: (change: Partial<NameForm>) => void; faults: Faults; missing: string[]; known: ClusterAt[] | undefined }) {
  const known = read ?? []
  const { able: clusters, unable } = ableClusters(known)
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
  const { offered, asked, more, silent, forbidden } = useServices(from, namespace)
  const typed = offered.find((o) => o.service === form.service.trim())
  const chosen = form.clusters.length > 0 || form.selector.trim() !== ''
  const hint = [
    offered.length > 0 ? `As namespace/name; ${offered.length.toLocaleString('en')} to choose from${more ? ', and more: type a namespace and /' : ''}.` : 'As namespace/name.',
    forbidden && 'Your role does not let you list the Services of these clusters, so type the name.',
    !forbidden && silent.length > 0 && (offered.length === 0 ? `None of the ${asked < from.length ? `first ${asked} ` : ''}clusters lists its Services now, so type the name.` : `${silent.length > 3 ? `${silent.length} of the ${asked} clusters asked` : silent.join(', ')} cannot list Services now.`),
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
