import { act } from 'preact/test-utils'
import { expect, test } from 'vitest'
import type { Moved } from '../lib/failover'
import { shown } from '../testing'
import { Moves } from './moves'

const moved = (name: string, left: Moved['left'], before: string[], after: string[]) => ({ name, type: 'A', provider: 'lab', left, before, after, clustersAfter: ['edge+one', 'edge+two', 'edge+three', 'edge+four'] }) as unknown as Moved

test('the targets that go and come are marked', () => {
  const { root, close } = shown(<Moves names={[moved('calm.example', undefined, ['192.0.2.1', '192.0.2.2'], ['192.0.2.2', '192.0.2.3'])]} left={0} followed={false} />)
  const row = root.querySelector('tbody tr')
  const marked = (kind: string) => [...(row?.querySelectorAll(kind) ?? [])].map((e) => e.textContent)
  expect([marked('del'), marked('ins')]).toEqual([['192.0.2.1'], ['192.0.2.3']])
  expect(row?.textContent).toContain('192.0.2.2')
  expect(row?.textContent).toContain('of edge/one, edge/two, edge/three and 1 more')
  close()
})

test('a table and a row are no longer than a screen before somebody asks for all', () => {
  const many = Array.from({ length: 60 }, (_, i) => `192.0.2.${i}`)
  const { root, close } = shown(<Moves names={many.map((target) => moved(`${target}.example`, undefined, many, []))} left={0} followed={false} />)
  expect([root.querySelectorAll('tbody tr').length, root.querySelector('tbody tr')?.querySelectorAll('del').length]).toEqual([50, 20])
  const press = (text: string) => void act(() => [...root.querySelectorAll('button')].find((b) => b.textContent === text)?.click())
  press('all 60 targets')
  press('Show all 60 rows')
  expect([root.querySelectorAll('tbody tr').length, root.querySelector('tbody tr')?.querySelectorAll('del').length]).toEqual([60, 60])
  close()
})
