import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import type { DraftPlan } from '../api/types'
import { apiPath, curl } from '../lib/commands'
import { ownErrors, pathOf, type Draft } from '../lib/draft'
import { faultsOf, type Faults } from '../lib/form'
import { Copy, Fault, Text, useDelayed } from '../ui/basics'

/** Kind is a kind of document, and how to make one of what is typed. */
interface Kind<Input> {
  empty: Input
  draftOf: (input: Input) => Draft
  isWhole: (input: Input) => boolean
  parentOf?: (input: Input) => Draft
  fields: string[] // that show their faults
}

/** useDraft judges a document while it is typed, by POST /v2/plan. */
function useDraft(draft: Draft, complete: boolean, parent: Draft | undefined) {
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
export function useNewDocument<Input, Stored>({ empty, draftOf, isWhole, parentOf, fields }: Kind<Input>) {
  const [form, setForm] = useState(empty)
  const client = useQueryClient()
  const late = useDelayed(form, 350)
  const [draft, parent, complete] = [draftOf(late), parentOf?.(late), isWhole(late)]
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
  const refusal = save.error ?? judged.error
  const errors = refusal instanceof Refusal ? ownErrors(refusal) : judged.data ? ownErrors(judged.data) : []
  const ready = Boolean(complete && form === late && !judged.isFetching && judged.data && errors.length === 0)
  return { form, set, late, draft, complete, orphan, judged, save, errors, faults: faultsOf(errors, fields), ready }
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

/** CopyDraft offers the request that saves a document. */
export const CopyDraft = ({ draft }: { draft: Draft }) => <Copy curl={curl('PUT', apiPath(pathOf(draft)), bodyOf(draft))} />
