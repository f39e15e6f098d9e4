import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query'
import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import { request } from '../api/client'
import { settings } from '../api/session'
import type { EventPage } from '../api/types'
import { beginOf, byDay, joined, spans, type Change, type Span } from '../lib/changes'
import { cli, curl, kindOf } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { plural } from '../lib/text'
import { clockOnly } from '../lib/time'
import { done } from '../lib/words'
import { Badge, Copy, Empty, Fault, Loading, Text, useNow, type Tone } from '../ui/basics'
import { Subject, Told } from '../ui/subject'

const limit = '100'
const mostPages = 20 // that are read for a span; who wants more asks for them

const tones: Record<string, Tone> = { completed: 'good', thawed: 'good', refused: 'bad', failed: 'bad', frozen: 'wait' }

/** ChangesScreen lists the latest requests of all projects that the user may read, by day. */
export function ChangesScreen() {
  const chosen = route.value.query.get('of') ?? ''
  const span = chosen in spans ? (chosen as Span) : 'latest'
  const now = useNow(60_000)
  const { from, until } = beginOf(span, new Date(now))
  const events = useInfiniteQuery({
    queryKey: ['events', 'latest'],
    initialPageParam: '',
    refetchInterval: (query: { state: { data: InfiniteData<EventPage> | undefined } }) => ((query.state.data?.pages.length ?? 0) < 3 ? 10_000 : false),
    queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }): Promise<EventPage> => request<EventPage>('GET', '/v2/events', { query: { limit, continue: pageParam }, signal }),
    getNextPageParam: (last) => last.continue,
  })
  const pages = events.data?.pages ?? []
  const oldest = pages.at(-1)?.items.at(-1)?.time
  const more = from !== undefined && events.hasNextPage && oldest !== undefined && Date.parse(oldest) >= from && pages.length < mostPages
  useEffect(() => {
    if (more && !events.isFetching) void events.fetchNextPage()
  }, [more, events.isFetching])
  const all = joined(pages.flatMap((p) => p.items)).filter((e) => Date.parse(e.time) >= (from ?? 0) && Date.parse(e.time) < (until ?? Infinity))
  return (
    <>
      <div class="bar">
        <h1>Changes</h1>
        <span class="muted" role="status" aria-live="polite">
          {events.data ? plural(all.length, 'change') : ''}
        </span>
        <Copy curl={curl('GET', `/v2/events?limit=${limit}`, undefined, settings.value.anonymous)} cli={cli('events', '--limit', limit)} />
      </div>
      <form class="filters" role="search" aria-label="Changes" onSubmit={(e) => e.preventDefault()}>
        <label>
          <span>When</span>
          <select value={span} onChange={(e) => go(link(['changes'], { of: e.currentTarget.value }), true)}>
            {Object.entries(spans).map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </form>
      {!events.data ? events.error ? <Fault error={events.error} /> : <Loading what="the latest changes" /> : more ? <Loading what="earlier changes" /> : all.length === 0 ? <Empty title={span === 'latest' ? 'Nothing has changed yet.' : 'Nothing has changed then.'} /> : <Days events={all} now={new Date(now)} />}
      {span === 'latest' && events.hasNextPage && (
        <p>
          <button type="button" disabled={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Show earlier changes
          </button>
        </p>
      )}
    </>
  )
}

function Days({ events, now }: { events: Change[]; now: Date }) {
  return (
    <>
      {byDay(events, now).map(({ day, events }) => (
        <Fragment key={day}>
          <h2>{day}</h2>
          <ul class="card log">
            {events.map((e, i) => (
              <li key={e.time + i}>
                <time dateTime={e.time} class="muted">
                  {clockOnly(e.time)}
                </time>
                <span>
                  <span class="strong">
                    <Subject path={e.path ?? ''} />
                  </span>{' '}
                  {done(e.action, kindOf(e.path ?? '') === 'name', e.outcome)} by <Text>{e.actor}</Text> <Badge tone={tones[e.outcome] ?? 'plain'}>{e.outcome}</Badge>{' '}
                  {e.revision > 0 && e.outcome !== 'stored' && e.outcome !== 'deleted' && <span class="muted">release {e.revision}</span>}{' '}
                  <span class="small">
                    <Told>{e.message}</Told>
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
    </>
  )
}
