import { useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import { settings } from '../api/session'
import type { Event } from '../api/types'
import { cli, curl } from '../lib/commands'
import { Badge, Copy, Empty, Fault, Loading, Table, Text, Time, type Tone } from '../ui/basics'
import { joined } from '../lib/changes'
import { NamesTabs, Subject } from '../ui/subject'

const limit = '100'

const tones: Record<string, Tone> = { completed: 'good', thawed: 'good', refused: 'bad', failed: 'bad', frozen: 'wait' }

/** ChangesScreen lists the latest requests of all projects that the user may read. */
export function ChangesScreen() {
  const events = useQuery({
    queryKey: ['events', 'latest'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => request<{ items: Event[] }>('GET', '/v2/events', { query: { limit }, signal }),
  })
  return (
    <>
      <div class="bar">
        <h1>Recent changes</h1>
        <Copy curl={curl('GET', `/v2/events?limit=${limit}`, undefined, settings.value.anonymous)} cli={cli('events', '--limit', limit)} />
      </div>
      <NamesTabs here="changes" />
      {events.data ? <Events items={events.data.items} /> : events.error ? <Fault error={events.error} /> : <Loading what="the latest changes" />}
    </>
  )
}

function Events({ items }: { items: Event[] }) {
  if (items.length === 0) return <Empty title="Nothing has changed yet." />
  return (
    <div class="card">
      <Table label="The latest changes, the newest first" head={['When', 'What', 'Action', 'By', 'Outcome', 'Release', 'Message']}>
        {joined(items).map((e, i) => (
          <tr key={e.time + i}>
            <td class="line">
              <Time at={e.time} />
            </td>
            <td>
              <Subject path={e.path ?? ''} />
            </td>
            <td>{e.action}</td>
            <td>
              <Text>{e.actor}</Text>
            </td>
            <td>
              <Badge tone={tones[e.outcome] ?? 'plain'}>{e.outcome}</Badge>
            </td>
            <td>{e.revision > 0 && e.outcome !== 'stored' ? e.revision : '–'}</td>
            <td>
              <Text>{e.message}</Text>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}
