import type { Cluster } from '../api/types'
import { cli } from '../lib/commands'
import { clusterDraft, clusterFaults, clusterLacks, emptyCluster, parentOf, uses, type ClusterInput, type OwnFaults } from '../lib/draft'
import type { Typing } from '../lib/form'
import { link } from '../lib/route'
import { Copy, Section, useMainFocus } from '../ui/basics'
import { AreaField, TextField } from '../ui/field'
import { PreflightView } from '../ui/preflight'
import { CopyDraft, Refused, Standing, useNewDocument } from './newdocument'

const kind = { empty: emptyCluster, draftOf: clusterDraft, lacking: clusterLacks, ownFaults: clusterFaults, parentOf, fields: ['/parent', '/metadata/name', '/spec/kubeconfig', '/spec/directory', '/spec/uses', '/spec/labels'] }

/** ClusterForm makes a cluster known, and checks it. */
export function ClusterForm() {
  const cluster = useNewDocument<ClusterInput, Cluster>(kind)
  const { form, late, save, ready } = cluster
  const typed = `${form.provider || 'dc'}/${form.name || 'one'}`
  if (save.data) return <Stored {...late} another={cluster.another} />
  return (
    <form class="card stack" aria-label="The cluster" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <h1>Add a cluster</h1>
      <p class="muted">
        The command line makes an account with no more rights than needed, by your own kubeconfig: <code>signpost connect CONTEXT --as {typed}</code>. Here you give a kubeconfig that you have.
      </p>
      <div class="columns">
        <div class="stack">
          <Identity {...cluster} />
        </div>
        <div class="stack">
          <Reach {...cluster} />
        </div>
      </div>
      {cluster.orphan && <p class="notice">The cluster provider {late.provider} does not exist yet; it is made first.</p>}
      <Refused {...cluster} />
      <div class="bar">
        <button type="submit" class="primary" disabled={!ready || save.isPending}>
          Add the cluster
        </button>
        <Standing {...cluster} />
        {cluster.complete && form.reach === 'directory' && <CopyDraft draft={cluster.draft} />}
        <Copy cli={cli('connect', 'CONTEXT', '--as', typed)} />
      </div>
    </form>
  )
}

/** Identity is the name of a cluster, its uses and its labels. */
function Identity({ form, set, faults, own }: Typing<ClusterInput> & { own: OwnFaults<ClusterInput> }) {
  return (
    <>
      <TextField label="Cluster provider" hint="A group of clusters, as in dc. A new one is made." faults={[...(own.provider ?? []), ...faults.of('/parent')]} value={form.provider} autocomplete="off" spellcheck={false} set={(provider) => set({ provider })} />
      <TextField label="Name" hint="As in one: names then call it dc/one." faults={[...(own.name ?? []), ...faults.of('/metadata/name')]} value={form.name} autocomplete="off" spellcheck={false} set={(name) => set({ name })} />
      <fieldset>
        <legend>It is for</legend>
        <div class="stack">
          {uses.map(([use, text]) => (
            <label key={use} class="check">
              <input type="checkbox" checked={form.uses.includes(use)} onChange={(e) => set({ uses: e.currentTarget.checked ? [...form.uses, use] : form.uses.filter((u) => u !== use) })} />
              <span>
                <b>{use}</b>: {text}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <TextField label="Labels" hint="As region=eu, with commas or spaces between; names may choose clusters by them." faults={[...(own.labels ?? []), ...faults.of('/spec/labels')]} value={form.labels} spellcheck={false} set={(labels) => set({ labels })} />
    </>
  )
}

/** Reach is how Signpost reaches a cluster. */
function Reach({ form, set, faults }: Typing<ClusterInput>) {
  return (
    <>
      <fieldset>
        <legend>It is reached by</legend>
        <div class="options">
          {(['kubeconfig', 'directory'] as const).map((reach) => (
            <label key={reach}>
              <input type="radio" name="reach" checked={form.reach === reach} onChange={() => set({ reach })} />
              <span>{reach === 'kubeconfig' ? 'a kubeconfig' : 'a directory that GitOps reads'}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {form.reach === 'kubeconfig' ? (
        <AreaField label="Kubeconfig" hint="It is write-only and encrypted; the console keeps nothing of it. One with exec, auth-provider or files is refused." faults={faults.of('/spec/kubeconfig')} rows={12} autocomplete="off" value={form.kubeconfig} set={(kubeconfig) => set({ kubeconfig })} />
      ) : (
        <TextField label="Directory" hint="Relative to the server's --directory-root." faults={faults.of('/spec/directory')} value={form.directory} spellcheck={false} set={(directory) => set({ directory })} />
      )}
    </>
  )
}

/** Stored checks a cluster that is saved. */
function Stored({ provider, name, another }: ClusterInput & { another: () => void }) {
  useMainFocus()
  const at: [string, string] = [provider.trim(), name.trim()]
  return (
    <Section title={`Cluster ${provider}/${name} is stored`} id="stored">
      <div class="card">
        <PreflightView path={at.join('/')} />
      </div>
      <div class="bar">
        <a class="button primary" href={link(['fleet', ...at])}>
          Look at the cluster
        </a>
        <button type="button" onClick={another}>
          Add another one
        </button>
      </div>
    </Section>
  )
}
