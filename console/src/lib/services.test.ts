import { expect, test } from 'vitest'
import { labelOf, namespaceOf, offeredBy, serviceHint } from './services'

const item = (namespace: string, name: string, ...targets: string[]) => ({ namespace, name, type: 'LoadBalancer', targets })

test('Services of clusters are one list, those with addresses first and without those of Kubernetes', () => {
  const all = offeredBy([
    { cluster: 'dc/one', items: [item('a', 'inner'), item('web', 'front', '192.0.2.1'), item('kube-system', 'kube-dns', '192.0.2.9'), item('default', 'kubernetes')] },
    { cluster: 'dc/two', items: [item('web', 'front', '192.0.2.2')] },
  ])
  expect(all).toEqual([
    { service: 'web/front', clusters: ['dc/one', 'dc/two'], targets: ['192.0.2.1', '192.0.2.2'] },
    { service: 'a/inner', clusters: ['dc/one'], targets: [] },
  ])
  expect(all.map(labelOf)).toEqual(['in dc/one, dc/two: 192.0.2.1 192.0.2.2', 'in dc/one, without an address of its own'])
})

test('a namespace narrows the list when it is whole', () => {
  expect(['web', 'web/', ' web/fr', 'Web/x', '-/x', ''].map(namespaceOf)).toEqual(['', 'web', 'web', '', '', ''])
})

test('the hint of a Service tells what there is to choose from, and who cannot say', () => {
  const none = { offered: [], asked: 2, more: false, silent: [], forbidden: false }
  const some = { ...none, offered: [{ service: 'web/front', clusters: ['dc/one'], targets: [] }] }
  expect(serviceHint(none, 2)).toBe('As namespace/name.')
  expect(serviceHint({ ...some, more: true }, 2)).toBe('As namespace/name; 1 to choose from, and more: type a namespace and /.')
  expect(serviceHint({ ...some, silent: ['dc/two'] }, 2)).toBe('As namespace/name; 1 to choose from. dc/two cannot list Services now.')
  expect(serviceHint({ ...some, asked: 5, silent: ['a/a', 'a/b', 'a/c', 'a/d'] }, 5)).toContain('4 of the 5 clusters asked cannot list Services now.')
  expect(serviceHint({ ...none, silent: ['dc/one', 'dc/two'] }, 3)).toBe('As namespace/name. None of the first 2 clusters lists its Services now, so type the name.')
  expect(serviceHint({ ...none, silent: ['dc/one', 'dc/two'] }, 2)).toContain('None of the clusters lists')
  expect(serviceHint({ ...none, silent: ['dc/one', 'dc/two'], forbidden: true }, 2)).toBe('As namespace/name. Your role does not let you list the Services of these clusters, so type the name.')
})
