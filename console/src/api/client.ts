import createClient, { type Middleware } from 'openapi-fetch'
import { base, bearer, needed } from './session'
import type { FieldError, Paths, Plan, Problem } from './types'

/** Refusal is an answer of the server that is not what was asked for. */
export class Refusal extends Error {
  readonly status: number
  readonly errors: FieldError[]
  readonly plan: Plan | undefined
  readonly requestID: string
  readonly retryAfter: number

  constructor(status: number, problem: Partial<Problem>, retryAfter = 0) {
    super(problem.detail || problem.title || (status === 0 ? 'The server cannot be reached.' : `the server answers ${status}`))
    this.status = status
    this.errors = problem.errors ?? []
    this.plan = problem.plan
    this.requestID = problem.requestID ?? ''
    this.retryAfter = retryAfter
  }
}

const ended = 'Your session has ended. Sign in again: what you typed is kept.'

const withToken: Middleware = {
  onRequest({ request }) {
    const token = bearer()
    if (token) request.headers.set('Authorization', `Bearer ${token}`)
    return request
  },
  onResponse({ response }) {
    if (response.status === 401) needed.value = { why: bearer() ? ended : '' }
    return response
  },
}

export const api = createClient<Paths>({ baseUrl: base, credentials: 'same-origin', cache: 'no-store', fetch: (asked) => fetch(asked) })
api.use(withToken)

interface Answered<T> {
  data?: T
  error?: unknown
  response: Response
}

/** ask waits for an answer, and throws a Refusal in place of any but the wanted one. */
export async function ask<T>(answer: Promise<Answered<T>>): Promise<T> {
  return (await askWhole(answer)).data
}

/** askWhole also gives the response, for its status and headers. */
export async function askWhole<T>(answer: Promise<Answered<T>>): Promise<{ data: T; response: Response }> {
  let got: Answered<T>
  try {
    got = await answer
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Refusal(0, {})
  }
  if (!got.response.ok) {
    const problem = typeof got.error === 'object' && got.error !== null ? (got.error as Partial<Problem>) : {}
    throw new Refusal(got.response.status, problem, Number(got.response.headers.get('Retry-After')) || 0)
  }
  return { data: got.data as T, response: got.response }
}

/** Sent is what request sends beside a path. */
export interface Sent {
  query?: Record<string, string | undefined>
  body?: unknown
  signal?: AbortSignal
  headers?: Record<string, string>
}

/** request asks for a path that is known only when the program runs, such as that of an owner. */
export async function request<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
  return (await requestWhole<T>(method, path, sent)).data
}

/** requestWhole also gives the response. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows what a path answers
export async function requestWhole<T>(method: string, path: string, { query = {}, body, signal, headers = {} }: Sent = {}): Promise<{ data: T; response: Response }> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
  const tail = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  return askWhole<T>(
    (async () => {
      const response = await fetch(base + path + tail, {
        method,
        credentials: 'same-origin',
        cache: 'no-store',
        headers: { Accept: 'application/json', ...(body !== undefined ? { 'Content-Type': 'application/json' } : {}), ...(bearer() ? { Authorization: `Bearer ${bearer()}` } : {}), ...headers },
        ...(body !== undefined ? { body: JSON.stringify(body) } : {}),
        ...(signal ? { signal } : {}),
      })
      if (response.status === 401) needed.value = { why: bearer() ? ended : '' }
      const text = await response.text()
      let value: unknown
      try {
        value = text ? JSON.parse(text) : undefined
      } catch {
        value = undefined // an ingress may answer in place of the server
      }
      return response.ok ? { data: value as T, response } : { error: value, response }
    })(),
  )
}
