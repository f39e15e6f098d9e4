import { expect, test } from 'vitest'
import { labelOf, namespaceOf, offeredBy } from './services'

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
