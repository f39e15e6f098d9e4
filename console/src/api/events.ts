import { signal } from '@preact/signals'
import type { QueryClient } from '@tanstack/react-query'
import { base, bearer, needed } from './session'
import type { Event } from './types'

/** How the stream of events does. */
export const live = signal<'connecting' | 'live' | 'lost' | 'out'>('connecting')
/** The latest events, the newest first. */
export const latest = signal<Event[]>([])

export interface Message {
  id: string
  kind: string
  data: string
}

/** parse takes whole messages off the front of a text of server-sent events, and gives the rest. */
export function parse(text: string): { messages: Message[]; rest: string } {
  const messages: Message[] = []
  const parts = text.replace(/\r\n?/g, '\n').split('\n\n')
  const rest = parts.pop() ?? ''
  for (const part of parts) {
    const message: Message = { id: '', kind: 'message', data: '' }
    for (const line of part.split('\n')) {
      const at = line.indexOf(':')
      const field = at < 0 ? line : line.slice(0, at)
      const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '')
      if (field === 'id') message.id = value
      if (field === 'event') message.kind = value
      if (field === 'data') message.data += (message.data ? '\n' : '') + value
    }
    messages.push(message)
  }
  return { messages, rest }
}

/** pause is how long to wait before another try, in milliseconds. */
export const pause = (failures: number, random = Math.random) => Math.min(30_000, 500 * 2 ** Math.min(failures, 6)) * (0.5 + random() / 2)

const most = 200

/** signedIn waits until nobody is asked who they are any more, or for the signal. */
const signedIn = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const check = () => {
      if (needed.value && !stop.aborted) return
      end()
      stop.removeEventListener('abort', check)
      resolve()
    }
    const end = needed.subscribe(() => queueMicrotask(check))
    stop.addEventListener('abort', check)
  })

/** follow follows events until the signal, and has what they touch read again, a second later at most. */
export async function follow(client: QueryClient, stop: AbortSignal): Promise<void> {
  let last = ''
  let failures = 0
  let due: ReturnType<typeof setTimeout> | undefined
  const stale = () => {
    due ??= setTimeout(() => {
      due = undefined
      void client.invalidateQueries({ predicate: (query) => query.meta?.['live'] !== false })
    }, 1000)
  }
  while (!stop.aborted) {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' }
      if (bearer()) headers['Authorization'] = `Bearer ${bearer()}`
      if (last) headers['Last-Event-ID'] = last
      const response = await fetch(`${base}/v2/events?follow=true`, { headers, signal: stop, cache: 'no-store', credentials: 'same-origin' })
      if (response.status === 401) {
        needed.value ??= { why: '' }
        live.value = 'out'
        await signedIn(stop)
        continue
      }
      if (response.status === 410) last = ''
      if (!response.ok || !response.body) throw new Error(String(response.status))
      live.value = 'live'
      if (failures > 0) stale() // something may have happened meanwhile
      failures = 0
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        const { messages, rest } = parse(text + value)
        text = rest
        for (const message of messages) {
          if (message.id) last = message.id
          if (message.kind !== 'event') continue
          latest.value = [JSON.parse(message.data) as Event, ...latest.value].slice(0, most)
          stale()
        }
      }
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return
    }
    failures++
    live.value = 'lost'
    await new Promise((resolve) => setTimeout(resolve, pause(failures)))
  }
}
