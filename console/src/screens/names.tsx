import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api, ask } from '../api/client'
import { caller, may } from '../api/session'
import type { FoundName } from '../api/types'
import { cli, curl } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { clip, counted, visible } from '../lib/text'
import { inWords } from '../lib/words'
import { Badge, Copy, Empty, Fault, Loading, stateTone, TruthBadge, useDelayed } from '../ui/basics'
import { NameLink, NamesTabs, OwnerLink } from '../ui/subject'

type Filters = Record<'q' | 'project' | 'provider' | 'cluster' | 'state' | 'published' | 'verified' | 'sort', string>
const keys: (keyof Filters)[] = ['q', 'project', 'provider', 'cluster', 'state', 'published', 'verified', 'sort']
const first = 60 // the rows of a screen: a search is answered by as little as possible
const page = 200
const pause = 40 // milliseconds between keys that still are one search

/** pattern is what a user types as the server wants it: without a star, any name that has the text. */
export function pattern(typed: string): string | undefined {
  const text = typed.trim().toLowerCase().replace(/\.$/, '')
  if (!text) return undefined
  return text.includes('*') ? text : `*${text}*`
}

/** isCluster tells whether a text is a cluster, as provider/cluster. */
const isCluster = (text: string) => /^[\w.-]+\/[\w.-]+$/.test(text)

/** question is what the server is asked. */
export function question(f: Filters) {
  const name = pattern(f.q)
  const given: Record<string, string> = {}
  for (const key of keys) if (key !== 'q' && f[key] && (key !== 'cluster' || isCluster(f[key]))) given[key] = f[key]
  return { ...(name ? { name } : {}), ...given, sort: f.sort || 'worst' } as Record<string, string>
}

const badPattern = /[^a-z0-9._*-]/

export function NamesScreen() {
  const q = route.value.query
  const filters = Object.fromEntries(keys.map((key) => [key, q.get(key) ?? ''])) as Filters
  const [typed, setTyped] = useState(filters.q)
  const [seen, setSeen] = useState(filters.q)
  if (filters.q !== seen) {
    setSeen(filters.q) // the address has changed otherwise
    setTyped(filters.q)
  }
  const set = (change: Partial<Filters>) => {
    const next = { ...filters, q: typed, ...change }
    setSeen(next.q)
    go(link(['names'], next), true)
  }
  const searched = useDelayed(typed, pause)
  useEffect(() => {
    if (searched !== filters.q) set({ q: searched })
  }, [searched])
  const asked = question({ ...filters, q: searched })
  const wrong = asked['name'] && badPattern.test(asked['name'])
  const found = useInfiniteQuery({
    queryKey: ['names', asked],
    enabled: !wrong,
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      ask(api.GET('/v2/names', { params: { query: { ...asked, limit: pageParam ? page : first, ...(pageParam ? { continue: pageParam } : {}) } as never }, signal })),
    getNextPageParam: (last) => last.continue,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) < 3 ? 10_000 : false),
  })
  const rows = useMemo(() => found.data?.pages.flatMap((p) => p.items) ?? [], [found.data])
  const { total, hosts } = found.data?.pages[0] ?? { total: 0, hosts: 0 }
  const filtered = keys.some((key) => key !== 'sort' && filters[key])
  const command = ['name', 'project', 'provider', 'cluster', 'state', 'published', 'verified'].flatMap((key) => (asked[key] ? (key === 'name' ? [asked[key]] : [`--${key}`, asked[key]]) : []))
  return (
    <>
      <div class="bar">
        <h1>Names</h1>
        <span class="muted" role="status" aria-live="polite">
          {found.data ? counted(hosts, total) : ''}
        </span>
        <Copy curl={curl('GET', `/v2/names?${new URLSearchParams(asked)}`)} cli={cli('find', ...command, asked['sort'] === 'worst' && '--worst')} />
        {may(caller.value, 'editor', '*') && (
          <a class="button primary" href={link(['publish'])}>
            Publish a name
          </a>
        )}
      </div>
      <NamesTabs here="names" />
      <form class="filters" role="search" aria-label="Names" onSubmit={(e) => e.preventDefault()}>
        <label class="grow">
          <span>Host name</span>
          <input id="search" type="search" value={typed} autocomplete="off" spellcheck={false} placeholder="shop, or *.shop.example" aria-invalid={Boolean(wrong)} onInput={(e) => setTyped(e.currentTarget.value)} />
        </label>
        <Filter label="Project" value={filters.project} set={(project) => set({ project })} />
        <Filter label="Provider" value={filters.provider} set={(provider) => set({ provider })} />
        <Filter label="Cluster" value={filters.cluster} set={(cluster) => set({ cluster })} placeholder="edge/one" />
        <Choice label="State" value={filters.state} set={(state) => set({ state })} options={['Created', 'Instantiating', 'Instantiated', 'Updating', 'Terminating', 'Failed']} />
        <Choice label="Published" value={filters.published} set={(published) => set({ published })} options={['True', 'False', 'Unknown', 'NotTrue']} />
        <Choice label="Answered" value={filters.verified} set={(verified) => set({ verified })} options={['True', 'False', 'Unknown', 'NotTrue']} />
        <Choice label="Order" value={filters.sort || 'worst'} set={(sort) => set({ sort })} options={['worst', 'name']} any={false} />
      </form>
      {filters.cluster && !isCluster(filters.cluster) && <p class="notice">A cluster is provider/cluster, as in edge/one; the list is not narrowed by “{filters.cluster}”.</p>}
      {wrong ? (
        <p class="notice">A host name has letters, digits, hyphens, dots and underscores; * stands for any text.</p>
      ) : found.error && rows.length === 0 ? (
        <Fault error={found.error} />
      ) : !found.data ? (
        <Loading what="names" />
      ) : rows.length === 0 ? (
        filtered ? (
          <Empty title="No name fits.">
            <p>
              <a href={link(['names'])}>Show all names</a>
            </p>
          </Empty>
        ) : (
          <Empty title="There are no names yet.">
            <p>
              A name needs a <a href={link(['publish'], { what: 'provider' })}>provider</a>, which is an account at a DNS provider, and a <a href={link(['publish'], { what: 'cluster' })}>cluster</a> where external-dns runs. Then{' '}
              <a href={link(['publish'])}>publish a name</a>.
            </p>
          </Empty>
        )
      ) : (
        <List rows={rows} total={total} more={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()} />
      )}
    </>
  )
}

function Filter({ label, value, set, placeholder }: { label: string; value: string; set: (value: string) => void; placeholder?: string }) {
  return (
    <label>
      <span>{label}</span>
      <input value={value} size={10} autocomplete="off" spellcheck={false} placeholder={placeholder ?? 'any'} onChange={(e) => set(e.currentTarget.value.trim())} />
    </label>
  )
}

const shownAs: Record<string, string> = { True: 'yes', False: 'no', Unknown: 'unknown', NotTrue: 'not confirmed', worst: 'worst first', name: 'by name' }

function Choice({ label, value, set, options, any = true }: { label: string; value: string; set: (value: string) => void; options: string[]; any?: boolean }) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(e) => set(e.currentTarget.value)}>
        {any && <option value="">any</option>}
        {options.map((o) => (
          <option key={o} value={o}>
            {shownAs[o] ?? o}
          </option>
        ))}
      </select>
    </label>
  )
}

const columns = ['Name', 'Owner', 'Provider', 'State', 'Published', 'Answered', 'Reason']
const ofReason = 500 // characters in a row; the page of the name has all

/** heightOf guesses the height of a row, until it is measured. */
const heightOf = (row: FoundName | undefined, narrow: boolean) => (narrow ? 80 : 41) + (row?.reason ? 20 * Math.ceil(Math.min(row.reason.length, ofReason) / (narrow ? 48 : 170)) : 0)

/** List shows only the rows that are in sight, and asks for more at its end. Each row is as high as its reason needs. */
function List({ rows, total, more }: { rows: FoundName[]; total: number; more: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const narrow = matchMedia('(max-width: 760px)').matches
  const keyOf = useCallback((i: number) => (rows[i] ? `${rows[i].name} ${rows[i].owner} ${rows[i].provider} ${rows[i].scope}` : i), [rows])
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, getItemKey: keyOf, estimateSize: (i) => heightOf(rows[i], narrow), overscan: 12 })
  const shown = virtual.getVirtualItems()
  const end = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (end >= rows.length - 20 && rows.length < total) more()
  }, [end, rows.length, total])
  return (
    <div class="list" role="table" aria-label="Names" aria-rowcount={total + 1}>
      <div role="rowgroup" class="listhead">
        <div role="row" class="row" aria-rowindex={1}>
          {columns.map((h) => (
            <span role="columnheader" key={h} class={h === 'Reason' ? 'hidden' : undefined}>
              {h}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="listbody" ref={box} tabIndex={0} aria-label="Rows of names">
        <div role="presentation" style={{ height: `${virtual.getTotalSize()}px` }} class="space">
          {shown.map((item) => {
            const row = rows[item.index]
            return (
              row && (
                <div role="row" class="row" key={item.key} ref={virtual.measureElement} data-index={item.index} aria-rowindex={item.index + 2} style={{ transform: `translateY(${item.start}px)` }}>
                  <Cells row={row} />
                </div>
              )
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** Cells are what a row says of a name. */
function Cells({ row }: { row: FoundName }) {
  return (
    <>
      <span role="cell" class="strong">
        <NameLink name={row.name} />
      </span>
      <span role="cell">
        <OwnerLink path={row.owner} />
      </span>
      <span role="cell">
        {row.provider} {row.scope === 'cluster' && <span class="muted">in clusters</span>}
      </span>
      <span role="cell" class={row.state === 'Instantiated' ? 'settled' : undefined}>
        <Badge tone={stateTone(row.state)}>{row.state}</Badge>
      </span>
      <span role="cell">
        <TruthBadge of="published" is={row.published} />
      </span>
      <span role="cell">
        <TruthBadge of="verified" is={row.verified} />
      </span>
      <span role="cell" class="reason">
        {row.reason && <bdi>{visible(clip(inWords(row.reason), ofReason))}</bdi>}
      </span>
    </>
  )
}
