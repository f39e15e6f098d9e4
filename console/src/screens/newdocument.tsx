import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import type { DraftPlan } from '../api/types'
import { apiPath, curl } from '../lib/commands'
import { ownErrors, pathOf, some, takenError, type Draft, type OwnFaults } from '../lib/draft'
import { faultsOf, type Faults } from '../lib/form'
import { Badge, Copy, Fault, Text, useDelayed } from '../ui/basics'

/** Kind is a kind of document, and how to make one of what is typed. */
interface Kind<Input> {
  empty: Input
  draftOf: (input: Input) => Draft
  lacking: (input: Input) => string[] // what is needed before a document can be judged
  parentOf?: (input: Input) => Draft | undefined
  ownFaults: (input: Input) => OwnFaults<Input>
  fields: string[] // that show their faults
}

/** useDraft judges a document while it is typed, by POST /v2/plan. */
export function useDraft(draft: Draft, complete: boolean, parent: Draft | undefined) {
  return useQuery({
    queryKey: ['draft', draft, parent],
    enabled: complete,
    meta: { live: false },
    gcTime: 0,
    retry: (n, error) => n < 5 && error instanceof Refusal && [0, 429, 503].includes(error.status),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<DraftPlan>('POST', '/v2/plan', { body: { documents: parent ? [draft, parent] : [draft] }, signal }),
  })
}

const isNew = { 'If-None-Match': '*' }
const bodyOf = ({ metadata, spec }: Draft) => ({ metadata, spec })

/** useNewDocument judges a document while it is typed, and saves it, after its parent if that does not exist. late is what has been typed for a while. */
export function useNewDocument<Input extends object, Stored>({ empty, draftOf, lacking, parentOf, ownFaults, fields }: Kind<Input>) {
  const [form, setForm] = useState(empty)
  const client = useQueryClient()
  const late = useDelayed(form, 350)
  const [draft, parent, lacks] = [draftOf(late), parentOf?.(late), lacking(late)]
  const own = ownFaults(late)
  const complete = lacks.length === 0 && !some(own)
  const judged = useDraft(draft, complete, parent)
  const [made, setMade] = useState(false)
  const orphan = !made && parent && judged.data?.documents.some((d) => d.path === pathOf(parent) && d.action === 'create')
  const save = useMutation({
    mutationFn: async () => {
      if (orphan) {
        await request('PUT', apiPath(pathOf(parent)), { body: { metadata: parent.metadata }, headers: isNew })
        setMade(true)
      }
      return request<Stored>('PUT', apiPath(pathOf(draft)), { body: bodyOf(draft), headers: isNew })
    },
    onSuccess: () => client.invalidateQueries(),
  })
  const set = (change: Partial<Input>) => {
    setForm((old) => ({ ...old, ...change }))
    if (save.isError) save.reset() // the refusal was of what was typed before
  }
  const another = () => {
    setForm(empty)
    save.reset()
  }
  const refusal = save.error ?? judged.error
  const errors = !complete ? [] : refusal instanceof Refusal ? ownErrors(refusal) : judged.data ? [...ownErrors(judged.data), ...takenError(judged.data, draft)] : []
  const ready = Boolean(complete && form === late && !judged.isFetching && judged.data && !judged.error && errors.length === 0)
  return { form, set, another, late, draft, lacks, own, complete, orphan, judged, save, errors, faults: faultsOf(errors, fields), ready }
}

/** Refused says why a document cannot be saved, if no field does. */
export function Refused({ save, judged, errors, faults }: { save: { error: Error | null }; judged: { error: Error | null }; errors: unknown[]; faults: Faults }) {
  const refusal = save.error ?? (errors.length === 0 ? judged.error : null)
  return (
    <>
      {refusal && <Fault acted={Boolean(save.error)} error={refusal} />}
      {faults.others.map((e, i) => (
        <p key={i} class="error">
          ✕ <Text>{`${e.pointer} ${e.detail}`}</Text>
        </p>
      ))}
    </>
  )
}

/** Standing says in which way a form is ready: what it lacks, that fields need a change, or that the server would take it. */
export function Standing({ lacks, own, errors, save, ready }: { lacks: string[]; own: Record<string, string[] | undefined>; errors: unknown[]; save: { error: Error | null }; ready: boolean }) {
  if (some(own) || (lacks.length === 0 && errors.length > 0)) return <Badge tone="bad">some fields need a change</Badge>
  if (lacks.length > 0) return <span class="muted small">It still needs {lacks.join(', ')}.</span>
  return ready && !save.error ? <Badge tone="good">the server would take it</Badge> : null
}

/** CopyDraft offers the request that saves a document. */
export const CopyDraft = ({ draft }: { draft: Draft }) => <Copy curl={curl('PUT', apiPath(pathOf(draft)), bodyOf(draft))} />
