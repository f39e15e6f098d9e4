import { useClusters, useOwnProjects } from '../api/lists'
import type { Provider } from '../api/types'
import { cli } from '../lib/commands'
import { builtIn, emptyProvider, pathOf, projectOf, providerDraft, providerFaults, providerLacks, type Draft, type OwnFaults, type ProviderInput } from '../lib/draft'
import type { Typing } from '../lib/form'
import { link } from '../lib/route'
import { Badge, Copy, Section, useMainFocus } from '../ui/basics'
import { AreaField, Field, TextField } from '../ui/field'
import { settingsLink, Warnings } from '../ui/subject'
import { CopyDraft, Refused, Standing, useNewDocument } from './newdocument'

const parameters = '/spec/external-dns-parameters'
const domains = `${parameters}/domain-filter`
const policy = `${parameters}/policy`
const providers = ['coredns', 'rfc2136', 'aws', 'azure', 'azure-private-dns', 'cloudflare', 'google', 'pdns', 'webhook']
const kind = { empty: emptyProvider, draftOf: providerDraft, lacking: providerLacks, ownFaults: providerFaults, fields: ['/parent', '/metadata/name', '/spec/provider', domains, policy, parameters, '/spec/environment', '/spec/credentials', '/spec/deployOn', '/spec/verify'] }

/** ProviderForm makes an account at a DNS provider known. */
export function ProviderForm() {
  const { mine } = useOwnProjects()
  const provider = useNewDocument<ProviderInput, Provider>({ ...kind, parentOf: (input) => (mine.includes(input.project.trim()) ? undefined : projectOf(input)) })
  const { form, late, draft, save, ready } = provider
  if (save.data) return <Stored provider={save.data} draft={draft} project={late.project.trim()} another={provider.another} />
  return (
    <form class="card stack" aria-label="The provider" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <h1>Add a provider</h1>
      <p class="muted">A provider is an account at a DNS provider: how its zones are reached, and with which credentials. Nothing runs before a name is published through it.</p>
      <div class="columns">
        <div class="stack">
          <Account {...provider} />
        </div>
        <div class="stack">
          <Settings {...provider} />
        </div>
      </div>
      <Refused {...provider} />
      <div class="bar">
        <button type="submit" class="primary" disabled={!ready || save.isPending}>
          {provider.orphan ? 'Make the project, and add the provider' : 'Add the provider'}
        </button>
        <Standing {...provider} />
        {provider.complete && !form.secrets.trim() && <CopyDraft draft={draft} />}
      </div>
    </form>
  )
}

/** Account is the project and the name of an account, its zones, and what writes there. */
function Account({ form, set, faults, own }: Typing<ProviderInput> & { own: OwnFaults<ProviderInput> }) {
  const { mine } = useOwnProjects()
  const clusters = useClusters()
  return (
    <>
      <TextField label="Project" hint="One that does not exist is made." faults={[...(own.project ?? []), ...faults.of('/parent')]} value={form.project} list="projects" offers={mine} autocomplete="off" spellcheck={false} set={(project) => set({ project })} />
      <TextField label="Name" hint="How Signpost calls it, as in lab." faults={[...(own.name ?? []), ...faults.of('/metadata/name')]} value={form.name} autocomplete="off" spellcheck={false} set={(name) => set({ name })} />
      <TextField label="DNS provider" hint="As external-dns calls it." faults={faults.of('/spec/provider')} value={form.provider} list="dns-providers" offers={providers} spellcheck={false} set={(provider) => set({ provider })} />
      <TextField label="Domains" hint="The zones that it serves; with commas or spaces between." faults={faults.of(domains)} value={form.domains} spellcheck={false} placeholder="shop.example" set={(domains) => set({ domains })} />
      <Field label="Policy" faults={faults.of(policy)}>
        {(p) => (
          <select {...p} value={form.policy} onChange={(e) => set({ policy: e.currentTarget.value })}>
            <option value="sync">sync: also removes names that go</option>
            <option value="upsert-only">upsert-only: removes nothing</option>
            <option value="create-only">create-only: changes and removes nothing</option>
          </select>
        )}
      </Field>
      <TextField label="Written by" hint={`${builtIn}: Signpost itself. Or the cluster where external-dns runs, as provider/cluster. Empty: the server's controller cluster.`} faults={[...(own.home ?? []), ...faults.of('/spec/deployOn')]} value={form.home} list="homes" offers={[builtIn, ...(clusters.data ?? []).map((c) => c.path)]} spellcheck={false} set={(home) => set({ home: home.trim() })} />
    </>
  )
}

/** Settings are further parameters, credentials, and which servers to ask. */
function Settings({ form, set, faults, own }: Typing<ProviderInput> & { own: OwnFaults<ProviderInput> }) {
  const apart = [...faults.of(domains), ...faults.of(policy)] // these stand beside their own fields
  return (
    <>
      <AreaField label="More parameters of external-dns" hint="A line name=value each, without dashes, as in rfc2136-host=192.0.2.53" faults={[...faults.of(parameters).filter((f) => !apart.includes(f)), ...(own.parameters ?? [])]} rows={4} value={form.parameters} set={(parameters) => set({ parameters })} />
      <AreaField label="Environment" hint="A line NAME=value each, for what is no secret, as in ETCD_URLS=http://10.0.0.5:2379" faults={[...faults.of('/spec/environment'), ...(own.environment ?? [])]} rows={2} value={form.environment} set={(environment) => set({ environment })} />
      <AreaField label="Secrets" hint="A line NAME=value each. They are write-only and encrypted; the console keeps none." faults={[...faults.of('/spec/credentials'), ...(own.secrets ?? [])]} rows={2} autocomplete="off" value={form.secrets} set={(secrets) => set({ secrets })} />
      <TextField label="Authoritative servers" hint="Which servers to ask whether a name is answered; empty: those of the zone." faults={faults.of('/spec/verify')} value={form.servers} spellcheck={false} placeholder="192.0.2.53:53" set={(servers) => set({ servers })} />
    </>
  )
}

/** Stored says what the server remarks of a provider that is saved. */
function Stored({ provider, draft, project, another }: { provider: Provider; draft: Draft; project: string; another: () => void }) {
  useMainFocus()
  return (
    <Section title={`Provider ${provider.metadata.name} is stored`} id="stored">
      <p>
        <Badge tone="good">stored</Badge> revision {provider.metadata.revision} <Copy cli={cli('get', pathOf(draft))} />
      </p>
      <Warnings of={provider.status?.warnings ?? []} />
      <div class="bar">
        <a class="button primary" href={link(['publish'], { project })}>
          Publish a name
        </a>
        <button type="button" onClick={another}>
          Add another one
        </button>
        <a href={settingsLink(pathOf(draft))}>Its settings</a>
      </div>
    </Section>
  )
}
