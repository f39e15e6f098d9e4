import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { shown } from '../testing'
import { TruthBadge } from './basics'
import { Outages } from './outages'
import { useTyped } from './typed'

let root: HTMLElement

beforeEach(() => {
  root = document.createElement('div')
  document.body.append(root)
})

afterEach(() => {
  render(null, root)
  root.remove()
  vi.useRealTimers()
})

test('a box with a time that ticks is not announced anew', () => {
  void act(() => render(<Outages all={[{ cluster: 'dc/a', since: '2026-11-02T09:00:00Z', targets: [], waiting: 0, effect: 'it keeps its answer' }]} />, root))
  expect(root.textContent).toContain('dc/a cannot be reached')
  expect(root.querySelector('time')?.closest('[role=alert], [role=status], [aria-live]')).toBeNull()
})

test('what is typed is sent after a pause, and follows the address if that changes otherwise', () => {
  vi.useFakeTimers()
  const sent: string[] = []
  function Box({ given }: { given: string }) {
    const [typed, setTyped] = useTyped(given, (text) => sent.push(text))
    return <input value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
  }
  const show = (given: string) => void act(() => render(<Box given={given} />, root))
  const wait = () => void act(() => void vi.advanceTimersByTime(200))
  const box = () => root.querySelector('input') as HTMLInputElement
  const type = (text: string) =>
    void act(() => {
      box().value = text
      box().dispatchEvent(new Event('input', { bubbles: true }))
    })
  show('')
  type('www')
  expect(sent).toEqual([])
  wait()
  expect(sent).toEqual(['www'])
  type('www2')
  show('www') // the answer to what was sent before
  expect(box().value).toBe('www2')
  wait()
  show('www2')
  show('') // the link without a query
  expect(box().value).toBe('')
  wait()
  expect([box().value, sent]).toEqual(['', ['www', 'www2']])
})

test('a name that servers do not have is not said to be answered', () => {
  const { root: badge, close } = shown(<TruthBadge of="verified" is="False" />)
  expect(badge.textContent).toContain('not answered as published')
  close()
})
