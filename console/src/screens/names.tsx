import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { api, ask } from '../api/client'
import { caller, may } from '../api/session'
import { curl } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { findCommand, isCluster, isPattern, keys, question, type Filters } from '../lib/search'
import { counted } from '../lib/text'
import { Copy, Empty, Fault, Loading, useDelayed } from '../ui/basics'
import { NamesTabs } from '../ui/subject'
import { List } from './nameslist'

const first = 60 // the rows of a screen: a search is answered by as little as possible
const page = 200
const pause = 40 // milliseconds between keys that still are one search

/** useFilters are the filters in the address, what is typed of a host name, and what has been for a while. */
function useFilters() {
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
  return { filters, set, typed, setTyped, searched }
}

/** useFound reads the names that the server finds, a page of them. */
function useFound(asked: Record<string, string>, enabled: boolean) {
  const found = useInfiniteQuery({
    queryKey: ['names', asked],
    enabled,
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      ask(api.GET('/v2/names', { params: { query: { ...asked, limit: pageParam ? page : first, ...(pageParam ? { continue: pageParam } : {}) } as never }, signal })),
    getNextPageParam: (last) => last.continue,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) < 3 ? 10_000 : false),
  })
  const rows = useMemo(() => found.data?.pages.flatMap((p) => p.items) ?? [], [found.data])
  return { found, rows, ...(found.data?.pages[0] ?? { total: 0, hosts: 0 }) }
}

export function NamesScreen() {
  const { filters, set, typed, setTyped, searched } = useFilters()
  const asked = question({ ...filters, q: searched })
  const wrong = !isPattern(asked['name'] ?? '')
  const { found, rows, total, hosts } = useFound(asked, !wrong)
  const toList = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') document.querySelector<HTMLElement>('.listbody a')?.focus()
    else if (event.key === 'Enter' && hosts === 1 && rows[0] && typed === searched && !found.isPlaceholderData) go(link(['names', rows[0].name]))
    else return
    event.preventDefault()
  }
  return (
    <>
      <div class="bar">
        <h1>Names</h1>
        <span class="muted" role="status" aria-live="polite">
          {found.data ? counted(hosts, total) : ''}
        </span>
        <Copy curl={curl('GET', `/v2/names?${new URLSearchParams(asked)}`)} cli={findCommand(asked)} />
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
          <input id="search" type="search" value={typed} autocomplete="off" spellcheck={false} placeholder="shop, or *.shop.example" aria-invalid={wrong} onInput={(e) => setTyped(e.currentTarget.value)} onKeyDown={toList} />
        </label>
        <Others filters={filters} set={set} />
      </form>
      {filters.cluster && !isCluster(filters.cluster) && <p class="notice">A cluster is provider/cluster, as in edge/one; the list is not narrowed by “{filters.cluster}”.</p>}
      {wrong ? (
        <p class="notice">A host name has letters, digits, hyphens, dots and underscores; * stands for any text.</p>
      ) : found.error && rows.length === 0 ? (
        <Fault error={found.error} />
      ) : !found.data ? (
        <Loading what="names" />
      ) : rows.length === 0 ? (
        <Nothing filtered={keys.some((key) => key !== 'sort' && filters[key])} />
      ) : (
        <List rows={rows} total={total} more={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()} />
      )}
    </>
  )
}

/** Nothing says what to do if no name is found. */
function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No name fits.">
        <p>
          <a href={link(['names'])}>Show all names</a>
        </p>
      </Empty>
    )
  return (
    <Empty title="There are no names yet.">
      <p>
        A name needs a <a href={link(['publish'], { what: 'provider' })}>provider</a>, which is an account at a DNS provider. Signpost writes there itself, or external-dns does in a{' '}
        <a href={link(['publish'], { what: 'cluster' })}>cluster</a>. Then <a href={link(['publish'])}>publish a name</a>.
      </p>
    </Empty>
  )
}

/** Others are the filters beside the search for a host name. A narrow screen folds them behind a button. */
function Others({ filters, set }: { filters: Filters; set: (change: Partial<Filters>) => void }) {
  const [open, setOpen] = useState(false)
  const used = keys.filter((key) => key !== 'q' && filters[key]).length
  return (
    <>
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filters{used > 0 && `, ${used} in use`}
      </button>
      <div class={open ? 'others open' : 'others'}>
        <Filter label="Project" value={filters.project} set={(project) => set({ project })} />
        <Filter label="Provider" value={filters.provider} set={(provider) => set({ provider })} />
        <Filter label="Cluster" value={filters.cluster} set={(cluster) => set({ cluster })} placeholder="edge/one" />
        <Choice label="State" value={filters.state} set={(state) => set({ state })} options={['Created', 'Instantiating', 'Instantiated', 'Updating', 'Terminating', 'Failed']} />
        <Choice label="Published" value={filters.published} set={(published) => set({ published })} options={['True', 'False', 'Unknown', 'NotTrue']} />
        <Choice label="Answered" value={filters.verified} set={(verified) => set({ verified })} options={['True', 'False', 'Unknown', 'NotTrue']} />
        <Choice label="Order" value={filters.sort || 'worst'} set={(sort) => set({ sort })} options={['worst', 'name']} any={false} />
      </div>
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

const shownAs: Record<string, string> = { True: 'yes', False: 'no', Unknown: 'unknown', NotTrue: 'no, or not known', worst: 'worst first', name: 'by name' }

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
