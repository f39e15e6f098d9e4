import { beforeEach, expect, test } from 'vitest'
import { emptyForm } from './form'
import { dropForm, keepForm, keptForm } from './kept'

beforeEach(() => sessionStorage.clear())

test('what is typed is there again, for the same name only', () => {
  const form = { ...emptyForm, project: 'p', name: 'a.example' }
  keepForm('p/a.example', form)
  expect(keptForm('p/a.example')).toEqual(form)
  expect(keptForm('p/b.example')).toBeUndefined()
  dropForm()
  expect(keptForm('p/a.example')).toBeUndefined()
})

test('what an earlier console kept gets the fields that it does not have', () => {
  sessionStorage.setItem('signpost.draft', JSON.stringify({ key: '/', form: { name: 'a.example' } }))
  expect(keptForm('/')).toEqual({ ...emptyForm, name: 'a.example' })
  sessionStorage.setItem('signpost.draft', '{')
  expect(keptForm('/')).toBeUndefined()
})
