const units: [number, string][] = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** ago says how long ago a time was. A time ahead, by a clock that disagrees, is "just now" up to a minute. */
export function ago(time: string | undefined, now = Date.now()): string {
  if (!time) return '–'
  const at = Date.parse(time)
  if (Number.isNaN(at)) return '–'
  const seconds = Math.round((now - at) / 1000)
  if (seconds < -60) return `in ${length(-seconds)} (its clock differs from yours)`
  if (seconds < 2) return 'just now'
  return `${length(seconds)} ago`
}

/** isPast tells whether a time is over. */
export const isPast = (time: string, now = Date.now()) => Date.parse(time) <= now

/** length is a number of seconds in its largest unit. */
export function length(seconds: number): string {
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${name}`
}

/** exact is a time in the user's own zone, for tooltips. */
export function exact(time: string | undefined): string {
  const at = time ? new Date(time) : undefined
  return at && !Number.isNaN(at.getTime()) ? at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' }) : ''
}

/** clock is a time in the user's own zone: of today with its seconds, of another day with its date and its zone. */
export function clock(time: string, now = new Date()): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ''
  if (at.toDateString() === now.toDateString()) return clockOnly(time)
  return at.toLocaleString(undefined, { month: 'short', day: 'numeric', ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }), hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
}

/** zone is the name of the user's own time zone. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** duration is a duration of the server, such as 1m7s, in words. */
export function duration(text: string): string {
  const parts = [...text.matchAll(/([0-9.]+)(ms|h|m|s)/g)].filter(([, n]) => Number(n) > 0).map(([, n, unit]) => `${n} ${unit === 'm' ? 'min' : unit}`)
  return parts.join(' ') || text
}

/** clockOnly is the clock time in the user's own zone. */
export function clockOnly(time: string): string {
  const at = new Date(time)
  return Number.isNaN(at.getTime()) ? '' : at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}
