import { useClusters, useOwnProjects, useProviders } from '../api/lists'
import { canonical, type NameForm, type Typing } from '../lib/form'
import { visible } from '../lib/text'
import { Field, TextField } from '../ui/field'
import { ServiceFields } from './servicefields'

/** ProjectField chooses the project of a name. A strange one, of a link, is none in which the user may publish. */
export function ProjectField({ form, set, fixed, strange }: Typing<NameForm> & { fixed: boolean; strange: boolean }) {
  const { projects, mine } = useOwnProjects()
  return (
    <Field label="Project" hint={projects.error ? 'The projects cannot be listed: type the name.' : projects.data && mine.length === 0 ? 'Add a provider first. That makes a project, too.' : ''} faults={strange ? [`There is no project ${visible(form.project)} in which you may publish. Choose one.`] : []}>
      {(p) =>
        projects.error ? (
          <input {...p} value={form.project} onInput={(e) => set({ project: e.currentTarget.value })} />
        ) : (
          <select {...p} value={strange ? '' : form.project} disabled={fixed} onChange={(e) => set({ project: e.currentTarget.value, provider: '' })}>
            <option value="">{projects.data && mine.length === 0 ? 'none in which you may publish' : 'choose one'}</option>
            {mine.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )
      }
    </Field>
  )
}

/** HostField is the name itself. */
export function HostField({ form, set, faults, fixed }: Typing<NameForm> & { fixed: boolean }) {
  const host = canonical(form.name)
  return <TextField label="Host name" hint={host && host !== form.name.trim() ? `As DNS has it: ${host}` : 'As in www.shop.example; *. may begin it.'} faults={faults.of('/metadata/name')} value={form.name} readOnly={fixed} autocomplete="off" spellcheck={false} set={(name) => set({ name })} />
}

const kinds = [
  ['service', 'a Service in clusters'],
  ['addresses', 'fixed addresses'],
  ['cname', 'another host name'],
] as const

/** TargetFields say where a name leads to. missing are Services that no cluster has. */
export function TargetFields({ missing, ...typing }: Typing<NameForm> & { missing: string[] }) {
  const { form, set, faults } = typing
  const clusters = useClusters()
  return (
    <>
      <fieldset>
        <legend>It leads to</legend>
        <div class="options">
          {kinds.map(([kind, label]) => (
            <label key={kind}>
              <input type="radio" name="kind" checked={form.kind === kind} onChange={() => set({ kind })} />
              <span>{label}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {form.kind === 'service' && <ServiceFields {...typing} missing={missing} known={clusters.data} />}
      {form.kind === 'addresses' && <TextField label="Addresses" hint="IPv4 and IPv6 addresses, with commas or spaces between." faults={faults.of('/spec/addresses')} class="mono" value={form.addresses} autocomplete="off" spellcheck={false} placeholder="203.0.113.7, 2001:db8::7" set={(addresses) => set({ addresses })} />}
      {form.kind === 'cname' && <TextField label="Leads to" faults={faults.of('/spec/cname')} value={form.cname} autocomplete="off" spellcheck={false} placeholder="shop.cdn.example" set={(cname) => set({ cname })} />}
    </>
  )
}

/** AnswerFields say who publishes a name, and how long its answers are kept. */
export function AnswerFields({ form, set, faults }: Typing<NameForm>) {
  const providers = useProviders(form.project)
  return (
    <>
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
      <TextField label="TTL in seconds" hint="How long resolvers keep an answer; empty for the default of the DNS provider." faults={faults.of('/spec/ttl')} inputMode="numeric" value={form.ttl} autocomplete="off" set={(ttl) => set({ ttl })} />
    </>
  )
}
