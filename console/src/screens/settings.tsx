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

/** Document is a stored provider or cluster; warnings are those of providers. */
type Document = Pick<Provider, 'metadata' | 'status'> & { spec: Record<string, unknown> }

const textOf = ({ spec }: Document) => JSON.stringify(spec, null, 2)

/** specOf reads the settings that are typed. */
function specOf(text: string): { spec?: Record<string, unknown>; fault: string } {
  try {
    const spec: unknown = JSON.parse(text)
    if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return { spec: spec as Record<string, unknown>, fault: '' }
    return { fault: 'must be a JSON object, in braces' }
  } catch (error) {
    return { fault: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }
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
  const [edited, setEdited] = useState<{ from: Document; text: string }>() // until then, the settings follow what is stored
  const { from, text } = edited ?? { from: stored, text: textOf(stored) }
  const client = useQueryClient()
  const late = useDelayed(text, 350)
  const { spec, fault } = edited && late !== textOf(from) ? specOf(late) : { fault: '' }
  const [resource, name] = [path.split('/').slice(0, -1).join('/'), from.metadata.name]
  const judged = useDraft({ resource, metadata: { name }, spec: spec ?? {} }, spec !== undefined, undefined)
  const save = useMutation({
    mutationFn: () => request<Document>('PUT', apiPath(path), { body: { metadata: from.metadata, spec }, headers: { 'If-Match': `"${from.metadata.revision}"` } }),
    onSuccess: (document) => {
      client.setQueryData(['document', path], document)
      setEdited(undefined)
      void client.invalidateQueries()
    },
  })
  const set = (typed: string) => {
    setEdited({ from, text: typed })
    save.reset() // what it said was of another text
  }
  const plan = spec && judged.data
  const errors = plan ? ownErrors(plan) : []
  return {
    text, set, save, plan,
    changed: text !== textOf(from),
    undo: () => setEdited(undefined),
    faults: [...(fault ? [fault] : []), ...errors.map((e) => `${e.pointer} ${e.detail}`)],
    ready: Boolean(text === late && plan && !judged.isFetching && !judged.error && errors.length === 0),
    error: save.error ?? (spec ? judged.error : null),
    revision: from.metadata.revision,
    outdated: from.metadata.revision !== stored.metadata.revision,
  }
}

function Settings({ path, stored, mine }: { path: string; stored: Document; mine: boolean }) {
  const { text, set, undo, faults, changed, ready, plan, error, save, revision, outdated } = useSettings(path, stored)
  return (
    <form class="card stack" aria-label="Settings" onSubmit={(e) => {
        e.preventDefault()
        if (ready) save.mutate()
      }}>
      <Warnings of={stored.status?.warnings ?? []} />
      <AreaField label="Settings" hint="As JSON. Secrets are not shown: without a value they stay as they are." faults={faults} rows={Math.min(30, Math.max(8, text.split('\n').length))} class="mono" readOnly={!mine || save.isPending} value={text} set={set} />
      {plan && <Affected plan={plan} />}
      {error && <Fault acted={Boolean(save.error)} error={error} />}
      {outdated && <p class="notice">Somebody has changed the settings meanwhile. Undo your changes to see them as they are now.</p>}
      {mine && (
        <div class="bar">
          <button type="submit" class="primary" disabled={!ready || save.isPending}>
            Save
          </button>
          {changed && (
            <button type="button" disabled={save.isPending} onClick={undo}>
              Undo the changes
            </button>
          )}
          {save.data && !changed ? <Saved path={path} revision={save.data.metadata.revision} /> : <span class="muted small">revision {revision}</span>}
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
