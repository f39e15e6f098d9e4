import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { caller, may } from '../api/session'
import { curl } from '../lib/commands'
import { answered, changing, commandOf, deskOf, emptyChoice, keepDesk, leftWord, pathsOf, specOf, type Choice, type Failover, type Preview } from '../lib/failover'
import { granters } from '../lib/hints'
import { go, link, route } from '../lib/route'
import { Badge, Copy, Empty, Fault, Section, Table, Text, Time } from '../ui/basics'
import { Orders } from './failoverorders'
import { PreviewView, type Confirmed } from './failoverpreview'
import { RecordScreen, states } from './failoverrecord'

/** FailoverPlace is the desk, or the record of a failover. */
export function FailoverPlace() {
  const id = route.value.path[1]
  return id ? <RecordScreen key={id} id={id} /> : <Desk />
}

function Desk() {
  const [choice, setChoice] = useState<Choice>(() => deskOf(route.value.query))
  useEffect(() => keepDesk(choice), [choice])
  const [override, setOverride] = useState('')
  const set = (change: Partial<Choice>) => {
    if (Object.keys(change).join() === 'reason') { // the preview stays as it is
      setChoice((old) => ({ ...old, ...change }))
      return
    }
    preview.reset()
    setOverride('')
    setChoice((old) => ({ ...old, ...change, seen: false }))
  }
  const spec = specOf(choice)
  const preview = useMutation({
    mutationFn: (rules: string) => request<Preview>('POST', '/v2/failovers', { query: { dryRun: 'true', override: rules }, body: spec }),
    onMutate: setOverride,
    onSuccess: () => setChoice((old) => ({ ...old, seen: true })),
  })
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: ({ token, force }: Confirmed) => request<Failover>('POST', '/v2/failovers', { query: { confirm: token, override, ...(force ? { force: 'true' } : {}) }, body: spec }),
    onSuccess: (made) => {
      keepDesk({ ...emptyChoice, verb: choice.verb })
      void client.invalidateQueries()
      go(link(['failover', made.id]))
    },
  })
  const look = (rules: string) => {
    act.reset()
    preview.mutate(rules)
  }
  const allowed = may(caller.value, 'operator')
  useEffect(() => {
    if (choice.seen && spec && allowed) look('') // the user comes back to the preview, or a link leads to it
  }, [])
  return (
    <>
      <div class="bar">
        <h1>Failover desk</h1>
        {spec && <Copy curl={curl('POST', '/v2/failovers?dryRun=true', spec)} cli={commandOf(spec, true)} />}
      </div>
      {allowed ? (
        <Orders choice={choice} set={set} ready={Boolean(spec)} busy={preview.isPending} seen={Boolean(preview.data)} error={preview.error} look={() => look('')} />
      ) : (
        <Empty title="Your role does not allow this.">
          <p>To fail over needs the role operator in all projects. {granters}</p>
        </Empty>
      )}
      {preview.data && <PreviewView key={preview.data.token} preview={preview.data} busy={act.isPending} error={act.error} label={choice.verb === 'drain' ? 'Fail over' : 'Undrain'} override={override} confirm={(force) => act.mutate({ token: preview.data.token, force })} look={look} />}
      <Recent />
    </>
  )
}

function Recent() {
  const records = useQuery({
    queryKey: ['failovers'],
    retry: false,
    refetchInterval: 10_000,
    queryFn: async ({ signal }) => {
      try {
        return (await request<{ items: Failover[] }>('GET', '/v2/failovers', { query: { limit: '200' }, signal })).items.reverse()
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return []
        throw error
      }
    },
  })
  if (records.error instanceof Refusal && records.error.status === 403) return null // the page says so already
  if (records.error) return <Fault error={records.error} />
  if (!records.data) return null
  return (
    <div class="card">
      <Section title="Failovers so far" id="recent">
        {records.data.length === 0 ? (
          <p class="muted">None. Each one leaves a record here: who, why, and when each name was answered.</p>
        ) : (
          <Table label="Failovers" head={['When', 'State', 'Drained', 'Undrained', 'By', 'Why', 'Answered']}>
            {records.data.map((r) => (
              <tr key={r.id}>
                <td>
                  <a href={link(['failover', r.id])}>
                    <Time at={r.time} />
                  </a>
                </td>
                <td>
                  <Badge tone={states[r.state]}>{r.state}</Badge> {r.revertedBy && <span class="muted">undone since</span>}
                </td>
                <td>{pathsOf(r.drained) || '–'}</td>
                <td>{pathsOf(r.undrained) || '–'}</td>
                <td>
                  <Text>{r.actor}</Text>
                </td>
                <td>
                  <Text>{r.reason ?? ''}</Text>
                </td>
                <td>{changing(r) > 0 ? [answered(r), leftWord(r)].filter(Boolean).join('. ') : 'no name changes'}</td>
              </tr>
            ))}
          </Table>
        )}
      </Section>
    </div>
  )
}
