import { base, settings } from '../api/session'

/** quote makes a word of a shell out of a text. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** curl is a request as a command. The token stays out of it: the reader has one in TOKEN. */
export function curl(method: string, path: string, body?: unknown, anonymous = settings.value.anonymous): string {
  const words = ['curl', '-sS']
  if (method !== 'GET') words.push('-X', method)
  words.push(quote(base + path))
  let command = words.join(' ')
  if (!anonymous) command += ' -H "Authorization: Bearer $TOKEN"'
  if (body !== undefined) command += ` -H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`
  return command
}

/** cli is a command of signpost. */
export const cli = (...words: (string | undefined | false)[]) =>
  ['signpost', ...words.filter((word): word is string => Boolean(word)).map(quote)].join(' ')

/** ownerWord is a group as the command line writes it, shop/store/v1/prod, or the path of anything else. */
export function ownerWord(path: string): string {
  const found = /^projects\/([^/]+)\/composite-apps\/([^/]+)\/([^/]+)\/deployment-intent-groups\/([^/]+)$/.exec(path)
  return found ? found.slice(1).join('/') : path
}

/** apiPath is the address of a document by its path. */
export const apiPath = (path: string, tail = '') => `/v2/${path.split('/').map(encodeURIComponent).join('/')}${tail}`

/** kindOf says what a path is a path of. */
export function kindOf(path: string): 'name' | 'group' | 'logical cloud' | 'provider' | 'cluster' | 'project' | 'other' {
  if (/^projects\/[^/]+\/names\/[^/]+$/.test(path)) return 'name'
  if (/\/deployment-intent-groups\/[^/]+$/.test(path)) return 'group'
  if (/\/logical-clouds\/[^/]+$/.test(path)) return 'logical cloud'
  if (/\/dns-update-records\/[^/]+$/.test(path)) return 'provider'
  if (/^cluster-providers\/[^/]+\/clusters\/[^/]+$/.test(path)) return 'cluster'
  if (/^projects\/[^/]+$/.test(path)) return 'project'
  return 'other'
}

/** hasSettings tells whether the settings of a document have a page. */
export const hasSettings = (path: string) => ['provider', 'cluster'].includes(kindOf(path))

/** projectOf is the project of a path; empty for none. */
export const projectOf = (path: string) => /^projects\/([^/]+)/.exec(path)?.[1] ?? ''
