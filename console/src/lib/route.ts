import { signal } from '@preact/signals'

/** Route is where the user is: the fragment of the address, as path and parameters. */
export interface Route {
  path: string[]
  query: URLSearchParams
}

/** parse reads a fragment such as #/names/www.example?tab=timeline. */
export function parse(hash: string): Route {
  const text = hash.replace(/^#\/?/, '')
  const [path, query] = text.split('?', 2)
  return { path: (path ?? '').split('/').filter(Boolean).map(decode), query: new URLSearchParams(query ?? '') }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // somebody else made this link
  }
}

/** link makes a fragment of parts and parameters; empty parameters are left out. */
export function link(parts: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const tail = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  return `#/${parts.map(encodeURIComponent).join('/')}${tail}`
}

export const route = signal<Route>(parse(location.hash))

addEventListener('hashchange', () => {
  route.value = parse(location.hash)
})

/** go opens a link; with replace, in place of the present one. */
export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  route.value = parse(to)
}
