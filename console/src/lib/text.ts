// Control characters, and characters that turn the direction of text or hide in it. They are
// shown, so that no text looks like another one.
// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** visible shows what hides in a text, as in ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(hidden, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** clip shortens a text to so many characters, and says so by an ellipsis. */
export function clip(text: string, most: number): string {
  const all = Array.from(text.length > most * 2 ? text.slice(0, most * 2) : text)
  return all.length > most || text.length > most * 2 ? all.slice(0, most - 1).join('') + '…' : text
}

/** pairs reads key=value words. */
export function pairs(words: string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [key = '', ...value] = word.split('=')
      return [key, value.join('=')]
    }),
  )
}

/** plural is a number with its noun. */
export const plural = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** counted counts host names, and the rows of a list if a name has several: one for each owner and provider. */
export const counted = (hosts: number, rows: number) => plural(hosts, 'name') + (rows > hosts ? ` in ${rows.toLocaleString('en')} rows` : '')

/** sentence is a text with a capital letter at its beginning. */
export const sentence = (text: string) => `${(text[0] ?? '').toUpperCase()}${text.slice(1)}`
