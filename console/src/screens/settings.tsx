import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { request } from '../api/client'
import { caller, may } from '../api/session'
import type { DraftPlan, Provider } from '../api/types'
import { apiPath, cli, curl, kindOf, projectOf } from '../lib/commands'
import { ownErrors } from '../lib/draft'
import { go, link } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, Copy, Dialog, Fault, Loading, useDelayed } from '../ui/basics'
import { AreaField } from '../ui/field'
import { named, Warnings } from '../ui/subject'
import { useDraft } from './newdocument'

/** Document is a stored document; providers are the ones with warnings. */
type Document = Pick<Provider, 'metadata' | 'status'> & { spec: Record<string, unknown> }

const textOf = ({ spec }: Document) => JSON.stringify(spec, null, 2)

/** specOf reads the settings that are typed. */
export function specOf(text: string): { spec: Record<string, unknown> | undefined; fault: string } {
  try {
    const spec: unknown = JSON.parse(text)
    if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return { spec: spec as Record<string, unknown>, fault: '' }
    return { spec: undefined, fault: 'must be a JSON object, as in {"provider": "coredns"}' }
  } catch (error) {
    return { spec: undefined, fault: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** SettingsScreen shows the settings of a provider or a cluster, which can be changed and deleted there. */
export function SettingsScreen({ path }: { path: string }) {
  const stored = useQuery({ queryKey: ['document', path], retry: false, queryFn: ({ signal }) => request<Document>('GET', apiPath(path), { signal }) })
  const mine = projectOf(path) ? may(caller.value, 'editor', projectOf(path)) : may(caller.value, 'admin')
  return (
    <>
      <div class="bar">
        <h1>Settings of {named(path)}</h1>
        <Copy curl={curl('GET', apiPath(path))} cli={cli('get', path)} />
        {kindOf(path) === 'provider' && <a href={link(['names'], { project: projectOf(path), provider: path.split('/').at(-1) })}>its names</a>}
        {stored.data && mine && <Delete path={path} revision={stored.data.metadata.revision} />}
      </div>
      {stored.data ? <Settings path={path} stored={stored.data} mine={mine} /> : stored.error ? <Fault error={stored.error} /> : <Loading what="the settings" />}
    </>
  )
}

/** useSettings are the settings as they are typed, with what the server says of them, and how they are saved. */
function useSettings(path: string, stored: Document) {
  const [from, setFrom] = useState(stored) // what the text began as
  const [text, setText] = useState(textOf(stored))
  const client = useQueryClient()
  const late = useDelayed(text, 350)
  const { spec, fault } = specOf(late)
  const changed = late !== textOf(from)
  const [resource, name] = [path.split('/').slice(0, -1).join('/'), from.metadata.name]
  const judged = useDraft({ resource, metadata: { name }, spec: spec ?? {} }, changed && spec !== undefined, undefined)
  const begin = (document: Document) => {
    setFrom(document)
    setText(textOf(document))
  }
  const save = useMutation({
    mutationFn: () => request<Document>('PUT', apiPath(path), { body: { metadata: from.metadata, spec }, headers: { 'If-Match': `"${from.metadata.revision}"` } }),
    onSuccess: async (document) => {
      begin(document)
      await client.invalidateQueries()
    },
  })
  const set = (typed: string) => {
    setText(typed)
    if (!save.isPending) save.reset()
  }
  const errors = changed && spec && judged.data ? ownErrors(judged.data) : []
  const faults = [...(fault ? [fault] : []), ...errors.map((e) => `${e.pointer} ${e.detail}`)]
  const ready = changed && text === late && faults.length === 0 && Boolean(judged.data) && !judged.isFetching && !judged.error
  return { text, set, faults, changed: text !== textOf(from), ready, plan: changed && !judged.error ? judged.data : undefined, error: save.error ?? (changed ? judged.error : null), save, begin, outdated: from.metadata.revision !== stored.metadata.revision }
}

function Settings({ path, stored, mine }: { path: string; stored: Document; mine: boolean }) {
  const { text, set, faults, changed, ready, plan, error, save, begin, outdated } = useSettings(path, stored)
  const hint = 'As JSON. Secrets are not shown: without a value they stay as they are.'
  return (
    <form class="card stack" aria-label="Settings" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <Warnings of={stored.status?.warnings ?? []} />
      <AreaField label="Settings" hint={hint} faults={faults} rows={Math.min(30, Math.max(8, text.split('\n').length))} class="mono" readOnly={!mine} value={text} set={set} />
      {plan && <Affected plan={plan} />}
      {error && <Fault acted={Boolean(save.error)} error={error} />}
      {outdated && !save.isPending && (
        <p class="notice">
          Somebody has changed the settings meanwhile.{' '}
          <button type="button" onClick={() => begin(stored)}>
            Show them as they are now
          </button>
        </p>
      )}
      {mine && (
        <div class="bar">
          <button type="submit" class="primary" disabled={!ready || save.isPending}>
            Save
          </button>
          {changed && (
            <button type="button" onClick={() => begin(stored)}>
              Undo the changes
            </button>
          )}
          {save.data && !changed ? <Saved path={path} revision={save.data.metadata.revision} /> : <span class="muted small">revision {stored.metadata.revision}</span>}
        </div>
      )}
    </form>
  )
}

const most = 10 // owners that are named

/** Affected are what would change something else with the next deployment. */
function Affected({ plan }: { plan: DraftPlan }) {
  const changing = plan.owners.filter((o) => o.changes)
  if (changing.length === 0) return null
  return (
    <p class="notice">
      Once it is saved and deployed, this changes {plural(changing.length, 'deployment')}: {changing.slice(0, most).map((o) => named(o.path)).join(', ')}
      {changing.length > most && ` and ${changing.length - most} more`}.
    </p>
  )
}

/** Saved says that the settings are stored. Those of a provider are deployed by a plan of their own. */
function Saved({ path, revision }: { path: string; revision: number | undefined }) {
  return (
    <span role="status">
      <Badge tone="good">saved</Badge> revision {revision}.{' '}
      {kindOf(path) === 'provider' && <a href={link(['plan'], { owner: path, for: 'update' })}>Plan its deployment</a>}
    </span>
  )
}

/** Delete asks once more. The server refuses while something refers to the document, and says what does. */
function Delete({ path, revision }: { path: string; revision: number | undefined }) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => request('DELETE', apiPath(path), { headers: { 'If-Match': `"${revision}"` } }),
    onSuccess: async () => {
      go(link(['fleet']))
      await client.invalidateQueries()
    },
  })
  const close = () => {
    setAsked(false)
    remove.reset()
  }
  return (
    <>
      <button type="button" class="risky" onClick={() => setAsked(true)}>
        Delete
      </button>
      {asked && (
        <Dialog title={`Delete ${named(path)}?`} onClose={close}>
          <p>Its document goes, with its secrets. It is refused while names or other documents need it.</p>
          {remove.error && <Fault acted error={remove.error} />}
          <div class="bar">
            <button type="button" class="risky" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Delete it
            </button>
            <Copy curl={curl('DELETE', apiPath(path))} cli={cli('delete', path)} />
          </div>
        </Dialog>
      )}
    </>
  )
}
