import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { Refusal, request, requestWhole } from '../api/client'
import type { DNSName, Plan } from '../api/types'
import { documentOf, faultsOf, own, type NameForm } from '../lib/form'
import { dropForm } from '../lib/kept'
import { useDelayed } from '../ui/basics'

const fields = ['/metadata/name', '/spec/service', '/spec/clusters', '/spec/addresses', '/spec/cname', '/spec/provider', '/spec/ttl', '/spec/routing']

/** Asked is what a form asks for. */
interface Asked {
  stored: DNSName | undefined // as it is now
  from: DNSName | undefined // which has what the form does not show
  lacking: (late: NameForm) => string[] // what is needed before there is a plan
  waits: boolean
  back: { release: number; start: NameForm } | undefined // of a way back: the release, and the form with its document
}

/** usePublishing plans what is typed, and publishes by this plan. late is what has been typed for a while. */
export function usePublishing(form: NameForm, { stored, from, lacking, waits, back }: Asked) {
  const client = useQueryClient()
  const late = useDelayed(form, 350)
  const [published, setPublished] = useState<{ project: string; host: string; changed: boolean }>()
  const lacks = lacking(late)
  const document = documentOf(late, from)
  const path = `/v2/projects/${encodeURIComponent(late.project)}/names/${encodeURIComponent(document.metadata.name)}`
  const restores = back && JSON.stringify(document) === JSON.stringify(documentOf(back.start, from)) ? back.release : undefined // an edited document is none of before
  const query = restores ? { restores: String(restores) } : {}
  const write: { body: DNSName; headers: Record<string, string> } = { body: document, headers: stored ? { 'If-Match': `"${stored.metadata.revision}"` } : { 'If-None-Match': '*' } }
  const plan = useQuery({
    queryKey: ['dry', path, document, restores],
    enabled: lacks.length === 0 && !published && !waits,
    retry: (n, error) => n < 5 && error instanceof Refusal && [0, 429, 503].includes(error.status),
    meta: { live: false },
    staleTime: 10_000,
    gcTime: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<Plan>('PUT', path, { query: { dryRun: 'true', ...query }, ...write, signal }),
  })
  const publish = useMutation({
    mutationFn: (token: string) => requestWhole<DNSName>('PUT', path, { query: { confirm: token, ...query }, ...write }),
    onSuccess: ({ data: { metadata } }) => {
      dropForm()
      setPublished({ project: late.project, host: document.metadata.name, changed: metadata.revision !== stored?.metadata.revision })
      void client.invalidateQueries({ predicate: ({ queryKey: [what] }) => what !== 'dry' && what !== 'trouble-count' })
    },
  })
  useEffect(() => publish.reset(), [late])
  const refusal = publish.error ?? plan.error
  const errors = refusal instanceof Refusal ? [...refusal.errors, ...(refusal.plan?.errors ?? [])] : (plan.data?.errors ?? [])
  const faults = faultsOf(lacks.length === 0 ? own(errors, `projects/${late.project}/names/${document.metadata.name}`) : [], fields)
  const settled = form === late && !plan.isFetching && !plan.isPlaceholderData
  const ready = lacks.length === 0 && settled && plan.data?.errors.length === 0 && !plan.error ? plan.data : undefined
  const taken = !stored && refusal instanceof Refusal && refusal.status === 412
  return { late, lacks, document, path, taken, restores, plan: plan.data, publish, refusal, errors, faults, settled, ready, published, restart: () => setPublished(undefined) }
}

export type Publishing = ReturnType<typeof usePublishing>
