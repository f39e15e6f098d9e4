import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ask } from '../api/client'
import { caller, may } from '../api/session'
import type { FoundName } from '../api/types'
import { cli, curl, ownerWord } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { counted, visible } from '../lib/text'
import { inWords } from '../lib/words'
import { Badge, Copy, Empty, Fault, Loading, stateTone, TruthBadge, useDelayed } from '../ui/basics'
import { NamesTabs } from '../ui/subject'

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
  const rows = found.data?.pages.flatMap((p) => p.items) ?? []
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

/** List shows only the rows that are in sight, and asks for more at its end. */
function List({ rows, total, more }: { rows: FoundName[]; total: number; more: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const narrow = matchMedia('(max-width: 760px)').matches
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: (i) => (narrow ? 84 : 41) + (rows[i]?.reason ? 22 : 0), overscan: 12 })
  const told = rows.map((r) => (r.reason ? 1 : 0)).join('')
  useEffect(() => virtual.measure(), [told])
  const shown = virtual.getVirtualItems()
  const end = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (end >= rows.length - 20 && rows.length < total) more()
  }, [end, rows.length, total])
  return (
    <div class="list" role="table" aria-label="Names" aria-rowcount={total + 1}>
      <div role="rowgroup" class="listhead">
        <div role="row" class="row" aria-rowindex={1}>
          {['Name', 'Owner', 'Provider', 'State', 'Published', 'Answered', 'Reason'].map((h) => (
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
            if (!row) return null
            return (
              <div role="row" class="row" key={item.key} aria-rowindex={item.index + 2} style={{ transform: `translateY(${item.start}px)`, height: `${item.size}px` }}>
                <span role="cell" class="cut strong">
                  <a href={link(['names', row.name])} title={row.name}>
                    <bdi>{row.name}</bdi>
                  </a>
                </span>
                <span role="cell" class="cut" title={row.owner}>
                  {row.owner.includes('/names/') ? row.project : ownerWord(row.owner)}
                </span>
                <span role="cell" class="cut">
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
                <span role="cell" class="cut reason" title={row.reason}>
                  {row.reason && <bdi>{visible(inWords(row.reason))}</bdi>}
                </span>
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
