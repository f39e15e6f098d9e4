import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ask, Refusal } from './api/client'
import { follow, live } from './api/events'
import { caller, needed, settings } from './api/session'
import { useTroubleCount } from './api/trouble'
import { hasSettings } from './lib/commands'
import { go, link, route } from './lib/route'
import { zone } from './lib/time'
import { ChangesScreen } from './screens/changes'
import { FailoverPlace } from './screens/failover'
import { FleetPlace } from './screens/fleet'
import { GroupsScreen } from './screens/groups'
import { NameScreen } from './screens/name'
import { NamesScreen } from './screens/names'
import { PlanScreen } from './screens/plan'
import { PublishScreen } from './screens/publish'
import { SettingsScreen } from './screens/settings'
import { SignIn } from './screens/signin'
import { TroubleScreen } from './screens/trouble'
import { Dialog, Empty, Fault, Loading } from './ui/basics'

const places = [
  { path: 'names', name: 'Names', key: 'n' },
  { path: 'changes', name: 'Changes', key: 'c' },
  { path: 'publish', name: 'Publish', key: 'p' },
  { path: 'fleet', name: 'Fleet', key: 'f' },
  { path: 'failover', name: 'Failover', key: 'o' },
  { path: 'trouble', name: 'Trouble', key: 't' },
] as const

const pageNames: Record<string, string> = { groups: 'Groups', plan: 'Plan', settings: 'Settings' }

export function App() {
  const client = useQueryClient()
  const who = useQuery({ queryKey: ['caller'], queryFn: ({ signal }) => ask(api.GET('/v2/caller', { signal })), meta: { live: false }, refetchInterval: 60_000 })
  const subject = who.data?.subject
  useEffect(() => {
    if (who.data) caller.value = who.data
  }, [who.data])
  useEffect(() => {
    if (!subject) return
    const stop = new AbortController()
    void follow(client, stop.signal)
    return () => stop.abort()
  }, [subject, client])
  const [help, setHelp] = useState(false)
  useKeys(setHelp)
  useTitle()
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById('main')?.focus())}>
        To the content
      </a>
      <Header help={() => setHelp(true)} />
      <main id="main" tabIndex={-1}>
        {who.data ? <Screen /> : who.error instanceof Refusal && who.error.status !== 401 ? <Fault error={who.error} /> : needed.value ? null : <Loading what="who you are" />}
      </main>
      {needed.value && (
        <SignIn
          onToken={() => {
            void client.invalidateQueries()
          }}
        />
      )}
      {help && <Help close={() => setHelp(false)} />}
    </>
  )
}

function Screen() {
  const { path, query } = route.value
  const [place, ...rest] = path
  switch (place) {
    case undefined:
    case 'names':
      return rest[0] ? <NameScreen key={rest[0]} host={rest[0]} tab={query.get('tab') ?? ''} /> : <NamesScreen />
    case 'groups':
      return <GroupsScreen />
    case 'changes':
      return <ChangesScreen />
    case 'plan':
      return <PlanScreen key={query.toString()} owner={query.get('owner') ?? ''} action={query.get('for') ?? 'deploy'} to={query.get('to') ?? undefined} />
    case 'publish':
      return <PublishScreen />
    case 'fleet':
      return <FleetPlace />
    case 'settings':
      return hasSettings(rest.join('/')) ? <SettingsScreen key={rest.join('/')} path={rest.join('/')} /> : <NoPage />
    case 'failover':
      return <FailoverPlace />
    case 'trouble':
      return <TroubleScreen />
    default:
      return <NoPage />
  }
}

const NoPage = () => (
  <Empty title="There is no such page.">
    <p>
      <a href={link(['names'])}>All names</a>
    </p>
  </Empty>
)

/** under is the place in the menu of pages that have none. */
const under: Record<string, string> = { groups: 'names', plan: 'names', settings: 'fleet' }

function Header({ help }: { help: () => void }) {
  const place = route.value.path[0] ?? 'names'
  const here = under[place] ?? place
  return (
    <header class="top">
      <a class="brand" href={link(['names'])}>
        <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
          <path fill="currentColor" d="M7 1h2v2h5l2 2-2 2H9v8H7V9H2L0 7l2-2h5z" />
        </svg>
        Signpost
      </a>
      <nav aria-label="Pages">
        {places.map((p) => (
          <a key={p.path} href={link([p.path])} aria-current={here === p.path ? 'page' : undefined}>
            {p.name} {p.path === 'trouble' && <TroubleCount />}
          </a>
        ))}
      </nav>
      <span class="gap" />
      <Live />
      <span class="who" title={settings.value.anonymous ? noSignIn : (caller.value?.roles ?? []).map((r) => `${r.role} of ${r.project || 'all projects'}`).join(', ')}>
        {caller.value?.subject}
      </span>
      <Theme />
      <button type="button" class="quiet" onClick={help} aria-keyshortcuts="?">
        Keys
      </button>
    </header>
  )
}

/** TroubleCount is how much needs somebody, beside the way there. */
function TroubleCount() {
  const n = useTroubleCount() ?? 0
  if (n === 0) return null
  return (
    <span class="many">
      {n > 999 ? '999+' : n}
      <span class="hidden"> {n === 1 ? 'needs' : 'need'} somebody</span>
    </span>
  )
}

const states = { live: 'Live', lost: 'Connection lost, trying again', connecting: 'Connecting', out: 'Signed out' } as const

function Live() {
  const state = live.value
  return (
    <span class={`link ${state}`} role="status">
      {states[state]}
    </span>
  )
}

const noSignIn = 'This server has no sign-in: everybody who reaches it is “anonymous”, and may do everything.'

const themes = ['system', 'light', 'dark'] as const

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem('signpost.theme') ?? 'system')
  useEffect(() => {
    localStorage.setItem('signpost.theme', theme)
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
  }, [theme])
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <span class="word" aria-hidden="true">
        Theme
      </span>
      <select value={theme} onChange={(e) => setTheme(e.currentTarget.value)}>
        {themes.map((t) => (
          <option key={t} value={t}>
            {t}
          </option>
        ))}
      </select>
    </label>
  )
}

/** useKeys are the keys that work everywhere but in fields. */
function useKeys(help: (open: boolean) => void) {
  useEffect(() => {
    let leader = 0
    const press = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || at.closest('dialog')) return
      if (event.key === '/') {
        event.preventDefault()
        if (!document.getElementById('search')) go(link(['names']))
        setTimeout(() => {
          const search = document.getElementById('search')
          if (search instanceof HTMLInputElement) search.select()
          search?.focus()
        })
      } else if (event.key === '?') help(true)
      else if (event.key === 'g') leader = Date.now()
      else if (Date.now() - leader < 1500) {
        const place = places.find((p) => p.key === event.key)
        if (place) go(link([place.path]))
        leader = 0
      }
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** useTitle names the page, and puts the focus on it when another one opens and what had the focus is gone. */
function useTitle() {
  const opened = useRef(false)
  const path = route.value.path.join('/')
  useEffect(() => {
    document.title = [route.value.path.slice(1).join(' '), places.find((p) => p.path === route.value.path[0])?.name ?? pageNames[route.value.path[0] ?? ''], 'Signpost'].filter(Boolean).join(' · ')
    scrollTo(0, 0)
    if (opened.current && document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true })
    opened.current = true
  }, [path])
}

function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" onClose={close}>
      <table>
        <tbody>
          {[['/', 'search names'], ['?', 'this list'], ...places.map((p) => [`g ${p.key}`, p.name.toLowerCase()]), ['Esc', 'close a dialog'], ['Tab', 'the next control']].map(([key, what]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted small">
        {settings.value.anonymous && `${noSignIn} `}
        Times are of your time zone, {zone()}.
      </p>
    </Dialog>
  )
}
