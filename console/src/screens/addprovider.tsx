import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { useClusters, useProjects } from '../api/lists'
import { caller, may } from '../api/session'
import type { DraftPlan, Provider } from '../api/types'
import { apiPath, cli, curl } from '../lib/commands'
import { emptyProvider, lines, ownErrors, providerDraft, type Draft, type ProviderInput } from '../lib/draft'
import { faultsOf } from '../lib/form'
import { link } from '../lib/route'
import { Badge, Copy, Fault, Section, Text, useDelayed } from '../ui/basics'
import { Field } from '../ui/field'
import { Told } from '../ui/subject'

/** useDraft judges a document while it is typed, by POST /v2/plan. */
export function useDraft(draft: Draft, complete: boolean, beside: Draft[] = []) {
  return useQuery({
    queryKey: ['draft', draft, beside],
    enabled: complete,
    meta: { live: false },
    gcTime: 0,
    retry: (n, error) => n < 5 && error instanceof Refusal && [0, 429, 503].includes(error.status),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<DraftPlan>('POST', '/v2/plan', { body: { documents: [draft, ...beside] }, signal }),
  })
}

const parameters = '/spec/external-dns-parameters'
const providers = ['coredns', 'rfc2136', 'aws', 'azure', 'azure-private-dns', 'cloudflare', 'google', 'pdns', 'webhook']

/** ProviderForm makes an account at a DNS provider known. */
export function ProviderForm() {
  const [input, setInput] = useState<ProviderInput>(emptyProvider)
  const set = (change: Partial<ProviderInput>) => setInput((old) => ({ ...old, ...change }))
  const client = useQueryClient()
  const projects = useProjects()
  const clusters = useClusters()
  const late = useDelayed(input, 350)
  const draft = providerDraft(late)
  const complete = Boolean(late.project && late.name.trim() && late.provider.trim())
  const judged = useDraft(draft, complete)
  const path = `${draft.resource}/${draft.metadata.name}`
  const save = useMutation({
    mutationFn: () => request<Provider>('PUT', apiPath(path), { body: { metadata: draft.metadata, spec: draft.spec }, headers: { 'If-None-Match': '*' } }),
    onSuccess: () => client.invalidateQueries(),
  })
  const refusal = save.error ?? judged.error
  const errors = refusal instanceof Refusal ? ownErrors(refusal) : judged.data ? ownErrors(judged.data) : []
  const faults = faultsOf(errors, ['/metadata/name', '/spec/provider', `${parameters}/domain-filter`, `${parameters}/policy`, parameters, '/spec/environment', '/spec/credentials', '/spec/deployOn', '/spec/verify'])
  const ready = complete && input === late && !judged.isFetching && judged.data && errors.length === 0 && !judged.error
  const unread = { parameters: lines(late.parameters).faults, environment: lines(late.environment).faults, secrets: lines(late.secrets).faults }
  if (save.data) return <Stored provider={save.data} path={path} project={late.project} />
  return (
    <form class="card stack" aria-label="The provider" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <h1>Add a provider</h1>
      <p class="muted">A provider is an account at a DNS provider: how external-dns reaches its zones, and with which credentials.</p>
      <div class="columns">
        <div class="stack">
          <Field label="Project">
            {(p) => (
              <select {...p} value={input.project} onChange={(e) => set({ project: e.currentTarget.value })}>
                <option value="">choose one</option>
                {(projects.data ?? []).filter((name) => may(caller.value, 'editor', name)).map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Name" hint="How Signpost calls it, as in lab." faults={faults.of('/metadata/name')}>
            {(p) => <input {...p} value={input.name} autocomplete="off" spellcheck={false} onInput={(e) => set({ name: e.currentTarget.value })} />}
          </Field>
          <Field label="DNS provider" hint="As external-dns calls it." faults={faults.of('/spec/provider')}>
            {(p) => (
              <>
                <input {...p} value={input.provider} list="dns-providers" spellcheck={false} onInput={(e) => set({ provider: e.currentTarget.value })} />
                <datalist id="dns-providers">
                  {providers.map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <Field label="Domains" hint="The zones that it serves; with commas or spaces between." faults={faults.of(`${parameters}/domain-filter`)}>
            {(p) => <input {...p} value={input.domains} spellcheck={false} placeholder="shop.example" onInput={(e) => set({ domains: e.currentTarget.value })} />}
          </Field>
          <Field label="Policy" faults={faults.of(`${parameters}/policy`)}>
            {(p) => (
              <select {...p} value={input.policy} onChange={(e) => set({ policy: e.currentTarget.value })}>
                <option value="sync">sync: also removes names that go</option>
                <option value="upsert-only">upsert-only: removes nothing</option>
                <option value="create-only">create-only: changes and removes nothing</option>
              </select>
            )}
          </Field>
          <Field label="Cluster where external-dns runs" hint="As provider/cluster. Empty: the server's controller cluster." faults={faults.of('/spec/deployOn')}>
            {(p) => (
              <>
                <input {...p} value={input.home} list="homes" spellcheck={false} placeholder="edge/hub" onInput={(e) => set({ home: e.currentTarget.value.trim() })} />
                <datalist id="homes">
                  {(clusters.data ?? []).map((c) => (
                    <option key={c.path} value={c.path} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        </div>
        <div class="stack">
          <Field label="More parameters of external-dns" hint="A line name=value each, without dashes, as in rfc2136-host=192.0.2.53" faults={[...faults.of(parameters).filter((f) => !faults.of(`${parameters}/domain-filter`).includes(f) && !faults.of(`${parameters}/policy`).includes(f)), ...unread.parameters]}>
            {(p) => <textarea {...p} rows={4} spellcheck={false} value={input.parameters} onInput={(e) => set({ parameters: e.currentTarget.value })} />}
          </Field>
          <Field label="Environment" hint="A line NAME=value each, for what is no secret, as in ETCD_URLS=http://10.0.0.5:2379" faults={[...faults.of('/spec/environment'), ...unread.environment]}>
            {(p) => <textarea {...p} rows={2} spellcheck={false} value={input.environment} onInput={(e) => set({ environment: e.currentTarget.value })} />}
          </Field>
          <Field label="Secrets" hint="A line NAME=value each. They are write-only and encrypted; the console keeps none." faults={[...faults.of('/spec/credentials'), ...unread.secrets]}>
            {(p) => <textarea {...p} rows={2} spellcheck={false} autocomplete="off" value={input.secrets} onInput={(e) => set({ secrets: e.currentTarget.value })} />}
          </Field>
          <Field label="Authoritative servers" hint="Which servers to ask whether a name is answered; empty: those of the zone." faults={faults.of('/spec/verify')}>
            {(p) => <input {...p} value={input.servers} spellcheck={false} placeholder="192.0.2.53:53" onInput={(e) => set({ servers: e.currentTarget.value })} />}
          </Field>
        </div>
      </div>
      {(refusal && faults.others.length === 0 && errors.length === 0) || save.error ? <Fault acted={Boolean(save.error)} error={refusal} /> : null}
      {faults.others.map((e, i) => (
        <p key={i} class="error">
          ✕ <Text>{`${e.pointer} ${e.detail}`}</Text>
        </p>
      ))}
      <div class="bar">
        <button type="submit" class="primary" disabled={!ready || save.isPending || Object.values(unread).flat().length > 0}>
          Add the provider
        </button>
        {complete && !input.secrets.trim() && <Copy curl={curl('PUT', apiPath(path), { metadata: draft.metadata, spec: draft.spec })} />}
        <span class="muted small">Nothing runs before a name is published through it.</span>
      </div>
    </form>
  )
}

function Stored({ provider, path, project }: { provider: Provider; path: string; project: string }) {
  const warnings = provider.status?.warnings ?? []
  return (
    <Section title={`Provider ${provider.metadata.name} is stored`} id="stored">
      <p>
        <Badge tone="good">stored</Badge> revision {provider.metadata.revision} <Copy cli={cli('get', path)} />
      </p>
      {warnings.length > 0 && (
        <ul class="notice">
          {warnings.map((w, i) => (
            <li key={i}>
              <code>{w.parameter}</code> <Told>{w.message}</Told>
            </li>
          ))}
        </ul>
      )}
      <p>
        <a class="button primary" href={link(['publish'], { project })}>
          Publish a name
        </a>
      </p>
    </Section>
  )
}
