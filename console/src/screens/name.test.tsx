import { render } from 'preact'
import { afterEach, expect, test } from 'vitest'
import { caller } from '../api/session'
import { Locked } from './name'

const group = (project: string) => ({ project, owner: `projects/${project}/composite-apps/store/v1/deployment-intent-groups/prod` })

afterEach(() => (caller.value = null))

/** said is what the page of a name says to an operator of the project shop. */
function said(...projects: string[]): string {
  caller.value = { actor: 'olga', open: false, roles: [{ role: 'operator', project: 'shop' }] } as never
  const root = document.createElement('div')
  render(<Locked owners={projects.map(group)} />, root)
  return root.textContent
}

test('a page says once that its name is not to be changed, and by which owner if others may be', () => {
  expect(said('bank', 'post')).toBe('You may look at it, not change it.')
  expect(said('shop')).toBe('')
  expect(said('shop', 'bank')).toBe('You may look at these, not change them: bank/store/v1/prod.')
})
