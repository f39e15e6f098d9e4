import { toChildArray, type ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Refusal } from '../api/client'
import { hintOf } from '../lib/hints'
import { clip, plural, visible } from '../lib/text'
import { ago, clock, exact, isPast } from '../lib/time'
import { inWords } from '../lib/words'

/** Tone is how good something is: wait is what goes on by itself, note what rests and somebody should know. It is never told by colour alone. */
export type Tone = 'good' | 'bad' | 'wait' | 'note' | 'unknown' | 'plain'

/** marks tell tones without colours: an ellipsis is for what goes on, and for nothing that has ended. */
export const marks: Record<Tone, string> = { good: '✓', bad: '✕', wait: '…', note: '!', unknown: '?', plain: '•' }

/** Text shows a text that somebody else wrote: its direction is its own, and nothing hides in it. */
export function Text({ children, most = 400 }: { children: string; most?: number }) {
  const [open, setOpen] = useState(false)
  const long = children.length > most
  return (
    <bdi class="text">
      {visible(long && !open ? clip(children, most) : children)}
      {long && (
        <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'less' : `all ${children.length.toLocaleString('en')} characters`}
        </button>
      )}
    </bdi>
  )
}

export function Badge({ tone, children, title, mark = marks[tone] }: { tone: Tone; children: ComponentChildren; title?: string; mark?: string }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      <span aria-hidden="true" class="mark">
        {mark}
      </span>
      <span>{children}</span>
    </span>
  )
}

export const toneOf = (truth: string): Tone => (truth === 'True' ? 'good' : truth === 'False' ? 'bad' : 'unknown')

/** stateTone is the tone of an owner's state. An owner that is Instantiated may have names that nobody answers: it is not good yet. */
export const stateTone = (state: string): Tone => (state === 'Failed' ? 'bad' : ['Instantiated', 'Created', 'Terminated'].includes(state) ? 'plain' : 'wait')

// yes, no, and what is unknown if neither is known
const words: Record<string, [string, string, string]> = {
  published: ['published', 'not published', 'publication'],
  verified: ['answered', 'not answered as published', 'answers'],
  healthy: ['reachable', 'unreachable', ''],
  available: ['available', 'not available', ''],
}

export function TruthBadge({ of, is, title }: { of: string; is: string; title?: string }) {
  const [yes, no, noun] = words[of] ?? ['yes', 'no', '']
  return (
    <Badge tone={toneOf(is)} title={title ?? `${of}: ${is}`}>
      {is === 'True' ? yes : is === 'False' ? no : noun ? <span><span class="noun">{noun} </span>unknown</span> : 'unknown'}
    </Badge>
  )
}

/** now ticks, so that "2 min ago" stays true. */
export function useNow(every = 15_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}

export function Time({ at }: { at: string | undefined }) {
  const now = useNow()
  return at ? (
    <time dateTime={at} title={exact(at)}>
      {ago(at, now)} <span class="clock">{clock(at)}</span>
    </time>
  ) : (
    <span>–</span>
  )
}

/** CachesUntil says until when caches hold an old answer. */
export function CachesUntil({ at }: { at: string | undefined }) {
  const now = useNow()
  if (!at) return <span>–</span>
  return isPast(at, now) ? <span title={exact(at)}>caches have expired</span> : <span title={exact(at)}>until {clock(at)}</span>
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      {children}
    </div>
  )
}

export const Loading = ({ what }: { what: string }) => (
  <p class="muted loading" role="status">
    Reading {what}…
  </p>
)

/** Fault shows a refusal: what is wrong, each field, and what to do. acted is of a request that was to change something. */
export function Fault({ error, acted = false, children }: { error: unknown; acted?: boolean; children?: ComponentChildren }) {
  const refusal = error instanceof Refusal ? error : undefined
  const text = error instanceof Error ? error.message : String(error)
  const stale = refusal?.status === 412
  return (
    <div class="fault" role="alert">
      {stale && <p class="strong">Something has changed since you looked. Nothing was done: look again at what would happen now.</p>}
      <p class={stale ? 'small' : 'strong'}>
        <Text>{inWords(text)}</Text>
      </p>
      {refusal && refusal.errors.length > 0 && (
        <ul>
          {refusal.errors.map((e, i) => (
            <li key={i}>
              {e.pointer && <code>{visible(e.pointer)}</code>} <Text>{inWords(e.detail)}</Text>
            </li>
          ))}
        </ul>
      )}
      {refusal && hintOf(refusal.status, acted) && <p class="muted">{hintOf(refusal.status, acted)}</p>}
      {refusal?.requestID && <p class="muted small">Request {refusal.requestID}</p>}
      {children}
    </div>
  )
}

/** Copy offers an action as a command. */
export function Copy({ curl, cli }: { curl?: string; cli?: string }) {
  return (
    <span class="copy">
      {curl && <CopyButton label="Copy as curl" text={curl} />}
      {cli && <CopyButton label="Copy as CLI" text={cli} />}
    </span>
  )
}

export function CopyButton({ label, text }: { label: string; text: string }) {
  const [done, setDone] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone('Copied')
    } catch {
      setDone('Not copied: the browser forbids it')
    }
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(''), 2000)
  }
  return (
    <button type="button" class="quiet" title={text} onClick={() => void copy()}>
      <span aria-live="polite">{done || label}</span>
    </button>
  )
}

/** Section is a part of a page, with its heading. */
export function Section({ title, aside, children, id }: { title: string; aside?: ComponentChildren; children: ComponentChildren; id?: string }) {
  return (
    <section class="section" aria-labelledby={id ?? title}>
      <div class="bar">
        <h2 id={id ?? title}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** labelCells tells each cell of a table its column, for narrow screens, on which rows are cards. */
function labelCells(box: HTMLElement, head: string[]) {
  for (const row of box.querySelectorAll('tbody tr'))
    [...row.children].forEach((cell, n) => {
      if (!(cell instanceof HTMLElement)) return
      cell.dataset['label'] = head[n] ?? ''
      cell.classList.toggle('none', ['', '–'].includes(cell.textContent.trim()))
    })
}

const mostRows = 50 // that a table shows before somebody asks for all

/** Table is a table that scrolls sideways by itself where there is no room, also by keyboard. On narrow screens, its rows are cards. */
export function Table({ label, head, children }: { label: string; head: string[]; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const rows = toChildArray(children)
  const [all, setAll] = useState(false)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    if (box.current) labelCells(box.current, head)
  })
  useEffect(() => {
    const look = () => setScrolls(Boolean(box.current && box.current.scrollWidth > box.current.clientWidth))
    const observer = new ResizeObserver(look)
    if (box.current) observer.observe(box.current)
    look()
    return () => observer.disconnect()
  }, [])
  const table = (
    <div class="scroll cards" ref={box} {...(scrolls ? { tabIndex: 0, role: 'region', 'aria-label': label } : {})}>
      <table>
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            {head.map((h) => (
              <th key={h} scope="col">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{all ? rows : rows.slice(0, mostRows)}</tbody>
      </table>
    </div>
  )
  return (
    <>
      {table}
      {!all && rows.length > mostRows && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {plural(rows.length, 'row')}
        </button>
      )}
    </>
  )
}

/** Dialog is a modal dialog of the browser's own: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose?: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class="bar">
        <h2>{title}</h2>
        {onClose && (
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}

/** useMainFocus puts the focus on the page that opens: the button that had it is gone. */
export const useMainFocus = () => useEffect(() => document.getElementById('main')?.focus(), [])

/** useDelayed is a value that follows only when it has not changed for a while. */
export function useDelayed<T>(value: T, milliseconds: number): T {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return late
}
