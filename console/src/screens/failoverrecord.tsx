import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { request } from '../api/client'
import { caller, may } from '../api/session'
import { cli, curl } from '../lib/commands'
import { answered, changing, leftWord, progress, titleOf, type Failover, type Preview } from '../lib/failover'
import { go, link } from '../lib/route'
import { clock, isPast } from '../lib/time'
import { Badge, Copy, Fault, Loading, Section, Text, Time, type Tone } from '../ui/basics'
import { Moves } from '../ui/moves'
import { By, ClusterLink, Told } from '../ui/subject'
import { PreviewView, type Confirmed } from './failoverpreview'

export const states: Record<Failover['state'], Tone> = { Moving: 'wait', Done: 'good', Superseded: 'plain', Unconfirmed: 'unknown', Failed: 'bad' }

/** RecordScreen follows a failover to its end, and undoes it. */
export function RecordScreen({ id }: { id: string }) {
  const client = useQueryClient()
  const path = `/v2/failovers/${encodeURIComponent(id)}`
  const record = useQuery({
    queryKey: ['failover', id],
    refetchInterval: (query: { state: { data: Failover | undefined } }) => (query.state.data?.state === 'Moving' ? 1000 : 10_000),
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Failover> => request<Failover>('GET', path, { signal }),
  })
  const [override, setOverride] = useState('')
  const preview = useMutation({ mutationFn: (rules: string) => request<Preview>('POST', `${path}/revert`, { query: { dryRun: 'true', override: rules } }), onMutate: setOverride })
  const act = useMutation({
    mutationFn: ({ token, force }: Confirmed) => request<Failover>('POST', `${path}/revert`, { query: { confirm: token, override, ...(force ? { force: 'true' } : {}) } }),
    onSuccess: (made) => {
      void client.invalidateQueries()
      go(link(['failover', made.id]))
    },
  })
  const look = (rules: string) => {
    act.reset()
    preview.mutate(rules)
  }
  if (!record.data) return record.error ? <Fault error={record.error} /> : <Loading what="the failover" />
  const r = record.data
  const part = progress(r)
  return (
    <>
      <div class="bar">
        <h1>{titleOf(r)}</h1>
        <Badge tone={states[r.state]}>{r.state}</Badge>
        <Copy curl={curl('GET', path)} cli={cli('failovers', id)} />
        {may(caller.value, 'operator') && !r.revertedBy && (
          <button type="button" disabled={preview.isPending} onClick={() => preview.mutate('')}>
            Preview undo
          </button>
        )}
      </div>
      <p class={`verdict ${states[r.state]}`} role="status" aria-live="polite">
        {r.revertedBy && 'Undone by another failover since. This is how it went: '}
        {changing(r) > 0 ? [answered(r) && `${answered(r)} as planned.`, leftWord(r)].filter(Boolean).join(' ') : 'No name had to change.'}{r.message && <Told>{` ${r.message}`}</Told>}
        {r.cachesUntil && (
          <>
            {' '}
            {isPast(r.cachesUntil) ? 'Caches have expired.' : `Caches may hold old answers until ${clock(r.cachesUntil)}.`}
          </>
        )}
      </p>
      {changing(r) > 0 && (
        <svg class="meter whole" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={`${Math.round(part * 100)} percent of the names that change are answered so`}>
          <rect class="track" width="100" height="10" />
          <rect class="value good" width={part * 100} height="10" />
        </svg>
      )}
      <Asked record={r} />
      {preview.error && <Fault error={preview.error} />}
      {preview.data && <PreviewView key={preview.data.token} preview={preview.data} busy={act.isPending} error={act.error} label="Undo" override={override} confirm={(force) => act.mutate({ token: preview.data.token, force })} look={look} />}
      {r.names.length > 0 && (
        <div class="card">
          <Section title="Names" id="moves">
            <Moves names={r.names} left={r.namesLeftOut} followed={true} over={r.state !== 'Moving'} />
          </Section>
        </div>
      )}
    </>
  )
}

/** Asked says who asked for the failover and why, and what became of it since. */
function Asked({ record: r }: { record: Failover }) {
  return (
    <p class="muted">
      Asked for <Time at={r.time} /> by <Text>{r.actor}</Text>
      {r.reason && (
        <>
          : <Text>{r.reason}</Text>
        </>
      )}
      {r.forced && '. It was forced'}
      {r.overridden && r.overridden.length > 0 && `. Without the safety rules ${r.overridden.join(' and ')}`}
      {r.revertedBy && (
        <>
          . Undone by <a href={link(['failover', r.revertedBy])}>another failover</a>
        </>
      )}
      {r.undone?.map((u) => (
        <Fragment key={u.cluster + u.since}>
          . <ClusterLink cluster={u.cluster} /> was changed back <By {...u} />
        </Fragment>
      ))}
      {r.revertOf && (
        <>
          . It undoes <a href={link(['failover', r.revertOf])}>another failover</a>
        </>
      )}
      .
    </p>
  )
}
