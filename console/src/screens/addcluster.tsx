import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import type { Cluster } from '../api/types'
import { apiPath, cli, curl } from '../lib/commands'
import { clusterDraft, emptyCluster, ownErrors, uses, type ClusterInput } from '../lib/draft'
import { faultsOf } from '../lib/form'
import { link } from '../lib/route'
import { Badge, Copy, Fault, Section, Text, useDelayed } from '../ui/basics'
import { Field } from '../ui/field'
import { PreflightView } from '../ui/preflight'
import { useDraft } from './addprovider'

/** ClusterForm makes a cluster known, and checks it. */
export function ClusterForm() {
  const [input, setInput] = useState<ClusterInput>(emptyCluster)
  const set = (change: Partial<ClusterInput>) => setInput((old) => ({ ...old, ...change }))
  const client = useQueryClient()
  const late = useDelayed(input, 350)
  const draft = clusterDraft(late)
  const complete = Boolean(late.provider.trim() && late.name.trim() && (late.reach === 'kubeconfig' ? late.kubeconfig.trim() : late.directory.trim()))
  const parent = `cluster-providers/${late.provider.trim()}`
  const judged = useDraft(draft, complete, [{ resource: 'cluster-providers', metadata: { name: late.provider.trim() }, spec: {} }])
  const path = `${draft.resource}/${draft.metadata.name}`
  const [made, setMade] = useState(false)
  const save = useMutation({
    mutationFn: async () => {
      if (missing) {
        await request('PUT', apiPath(parent), { body: { metadata: { name: late.provider.trim() } }, headers: { 'If-None-Match': '*' } })
        setMade(true)
      }
      return request<Cluster>('PUT', apiPath(path), { body: { metadata: draft.metadata, spec: draft.spec }, headers: { 'If-None-Match': '*' } })
    },
    onSuccess: () => client.invalidateQueries(),
  })
  const refusal = save.error ?? judged.error
  const errors = refusal instanceof Refusal ? ownErrors(refusal) : judged.data ? ownErrors(judged.data) : []
  const missing = !made && (judged.data?.documents ?? []).some((d) => d.path === parent && d.action === 'create')
  const faults = faultsOf(errors, ['/metadata/name', '/spec/kubeconfig', '/spec/directory', '/spec/uses', '/spec/labels'])
  const ready = complete && input === late && !judged.isFetching && judged.data && errors.length === 0
  if (save.data)
    return (
      <Section title={`Cluster ${late.provider}/${late.name} is stored`} id="stored">
        <div class="card">
          <PreflightView path={`${late.provider.trim()}/${late.name.trim()}`} />
        </div>
        <p>
          <a class="button primary" href={link(['fleet', late.provider.trim(), late.name.trim()])}>
            Look at the cluster
          </a>
        </p>
      </Section>
    )
  return (
    <form class="card stack" aria-label="The cluster" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <h1>Add a cluster</h1>
      <p class="muted">
        The command line makes an account with no more rights than needed, by your own kubeconfig: <code>signpost connect CONTEXT --as {input.provider || 'dc'}/{input.name || 'one'}</code>. Here you give a kubeconfig that you have.
      </p>
      <div class="columns">
        <div class="stack">
          <Field label="Cluster provider" hint="A group of clusters, as in dc. A new one is made." faults={[]}>
            {(p) => <input {...p} value={input.provider} autocomplete="off" spellcheck={false} onInput={(e) => set({ provider: e.currentTarget.value })} />}
          </Field>
          <Field label="Name" hint="As in one: names then call it dc/one." faults={faults.of('/metadata/name')}>
            {(p) => <input {...p} value={input.name} autocomplete="off" spellcheck={false} onInput={(e) => set({ name: e.currentTarget.value })} />}
          </Field>
          <fieldset>
            <legend>It is for</legend>
            <div class="stack">
              {uses.map(([use, text]) => (
                <label key={use} class="check">
                  <input type="checkbox" checked={input.uses.includes(use)} onChange={(e) => set({ uses: e.currentTarget.checked ? [...input.uses, use] : input.uses.filter((u) => u !== use) })} />
                  <span>
                    <b>{use}</b>: {text}
                  </span>
                </label>
              ))}
            </div>
          </fieldset>
          <Field label="Labels" hint="As region=eu, with commas or spaces between; names may choose clusters by them." faults={faults.of('/spec/labels')}>
            {(p) => <input {...p} value={input.labels} spellcheck={false} onInput={(e) => set({ labels: e.currentTarget.value })} />}
          </Field>
        </div>
        <div class="stack">
          <fieldset>
            <legend>It is reached by</legend>
            <div class="options">
              {(['kubeconfig', 'directory'] as const).map((reach) => (
                <label key={reach}>
                  <input type="radio" name="reach" checked={input.reach === reach} onChange={() => set({ reach })} />
                  <span>{reach === 'kubeconfig' ? 'a kubeconfig' : 'a directory that GitOps reads'}</span>
                </label>
              ))}
            </div>
          </fieldset>
          {input.reach === 'kubeconfig' ? (
            <Field label="Kubeconfig" hint="It is write-only and encrypted; the console keeps nothing of it. One with exec, auth-provider or files is refused." faults={faults.of('/spec/kubeconfig')}>
              {(p) => <textarea {...p} rows={12} spellcheck={false} autocomplete="off" value={input.kubeconfig} onInput={(e) => set({ kubeconfig: e.currentTarget.value })} />}
            </Field>
          ) : (
            <Field label="Directory" hint="Relative to the server's --directory-root." faults={faults.of('/spec/directory')}>
              {(p) => <input {...p} value={input.directory} spellcheck={false} onInput={(e) => set({ directory: e.currentTarget.value })} />}
            </Field>
          )}
        </div>
      </div>
      {missing && <p class="notice">The cluster provider {late.provider} does not exist yet; it is made first.</p>}
      {save.error && <Fault acted error={save.error} />}
      {!save.error && judged.error && errors.length === 0 && <Fault error={judged.error} />}
      {faults.others.map((e, i) => (
        <p key={i} class="error">
          ✕ <Text>{`${e.pointer} ${e.detail}`}</Text>
        </p>
      ))}
      <div class="bar">
        <button type="submit" class="primary" disabled={!ready || save.isPending}>
          Add the cluster
        </button>
        {complete && input.reach === 'directory' && <Copy curl={curl('PUT', apiPath(path), { metadata: draft.metadata, spec: draft.spec })} />}
        {ready && <Badge tone="good">the server would take it</Badge>}
        <Copy cli={cli('connect', 'CONTEXT', '--as', `${input.provider || 'dc'}/${input.name || 'one'}`)} />
      </div>
    </form>
  )
}
