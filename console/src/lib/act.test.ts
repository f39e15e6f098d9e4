import { describe, expect, test } from 'vitest'
import type { DNSName, FleetItem, NameChange, Plan } from '../api/types'
import { base64, clusterDraft, clusterFaults, clusterLacks, emptyCluster, emptyProvider, lines, ownErrors, parentOf, pathOf, providerDraft, providerFaults, providerLacks, takenError, type ProviderInput } from './draft'
import { chosenOf, commandOf, danger, emptyChoice, isForced, labelsOf, progress, rulesOf, specOf } from './failover'
import { gridOf } from './fleet'
import { canonical, documentOf, emptyForm, faultsOf, formOf, missing, own, publishCommand } from './form'
import { changing, countsOf, effect, hostsIn, isAbove, isBuiltIn, limitOf, movesOf, percentOf, removals } from './plan'
import { stepOf } from './step'
import { clusterPath, inWords, withClusters } from './words'

const change = (name: string, action: NameChange['action'], type = 'A', targets = ['192.0.2.1']): NameChange => ({ name, type, record: 'lab', action, targets })
const plan = (names: NameChange[]): Plan => ({ token: 't', objects: [], names, warnings: [], errors: [] })

describe('a plan', () => {
  test('shows the names that change, removals first', () => {
    const moves = movesOf(plan([change('a', 'create'), change('b', 'delete'), change('c', 'unchanged')]))
    expect(moves.map((m) => m.name)).toEqual(['b', 'a'])
  })
  test('of the built-in publisher has no DNSEndpoint', () => {
    const object = (kind: string) => ({ kind, name: 'x', namespace: 'shop', cluster: 'edge+hub', action: 'unchanged' as const, diff: '' })
    const changed = [change('a', 'create')]
    expect(isBuiltIn({ names: changed, objects: [object('Namespace')] })).toBe(true)
    expect(isBuiltIn({ names: changed, objects: [object('Namespace'), object('DNSEndpoint')] })).toBe(false)
    expect(isBuiltIn({ names: [change('a', 'create', 'A', []), change('b', 'unchanged')], objects: [] })).toBe(false) // nothing of it changes in DNS
  })
  test('counts names, not types', () => {
    const all = plan([change('a', 'delete', 'A'), change('a', 'delete', 'AAAA'), change('b', 'delete', 'A'), change('b', 'unchanged', 'AAAA'), change('c', 'create')])
    expect(removals(all)).toEqual([{ provider: 'lab', names: 1 }])
    expect(effect(all)).toBe('1 new name, 1 name changes, 1 name goes')
    expect(effect(plan([]))).toBe('nothing changes')
    const blank = plan([change('a', 'create', 'A', []), change('b', 'create', 'A', []), change('b', 'create', 'AAAA')])
    expect([effect(blank), countsOf(blank)]).toEqual(['1 new name, 1 new name without an address', 'Of 2 host names, 1 is new, 1 is new without an address.'])
    expect(effect(plan([change('a', 'create', 'A', []), change('a', 'delete', 'A', [])]))).toBe('1 name changes')
    const lacking = plan([change('a', 'delete', 'A', []), change('b', 'unchanged')])
    expect(countsOf(lacking)).toBe('Of 2 host names, 1 without an address goes.')
    expect(removals(lacking)).toEqual([]) // it was not in DNS, and the server does not count it either
  })
  test('counts the same in each of its parts', () => {
    const shared = change('shared', 'update') // another group gives it, too
    const ends = plan([change('a', 'delete'), change('a', 'delete', 'AAAA'), change('b', 'delete'), change('_https._tcp.b', 'delete', 'SRV'), shared, change('c', 'delete', 'A', []), change('d', 'unchanged')])
    expect(countsOf(ends)).toBe('Of 5 host names, 1 changes, 2 go, 1 without an address goes.')
    expect(effect(ends)).toBe('1 name changes, 2 names go, 1 name without an address goes')
    expect(changing(ends)).toBe(4)
    expect(removals(ends)).toEqual([{ provider: 'lab', names: 2 }])
    expect(hostsIn(ends).map(({ host, planned }) => `${host} ${planned}`)).toEqual(['a goes', 'b goes', 'c goes, without an address', 'shared changes', 'd stays as it is'])
  })
  test('is above the limit as the server says', () => {
    expect(isAbove(5, 6, 25)).toBe(false) // five may always go
    expect([limitOf(100, 25), limitOf(10, 25), limitOf(4, 25), limitOf(0, 25)]).toEqual([25, 50, 100, 100])
    expect(isAbove(6, 24, 25)).toBe(false)
    expect(isAbove(6, 23, 25)).toBe(true)
    expect(isAbove(600, 600, 100)).toBe(false)
    expect([percentOf(undefined), percentOf('10%'), percentOf(0)]).toEqual([25, 10, 0])
  })
  test('is asked for by the way of its owner', () => {
    expect(stepOf('projects/p/names/www.example', 'delete', undefined)).toMatchObject({ act: { method: 'DELETE', path: '/v2/projects/p/names/www.example' }, cli: 'signpost unpublish www.example --project p --dry-run' })
    expect(stepOf('projects/p/composite-apps/a/v1/deployment-intent-groups/g', 'rollback', '2')).toMatchObject({ plan: { query: { for: 'rollback', to: '2' } }, act: { query: { to: '2' } }, cli: 'signpost plan p/a/v1/g --for rollback --to 2' })
    expect(stepOf('projects/p/dns-update-records/lab', 'terminate', undefined)).toBeUndefined()
    expect(stepOf('projects/p/names/www.example', 'terminate', undefined)).toBeUndefined()
    expect(stepOf('../../evil', 'deploy', undefined)).toBeUndefined()
  })
})

describe('the form of a name', () => {
  test('makes host names canonical', () => {
    expect(canonical(' WWW.Shop.Example. ')).toBe('www.shop.example')
    expect(canonical('*.Bücher.example')).toBe('*.xn--bcher-kva.example')
    expect(canonical('https://a.lab.example/shop?q=1')).toBe('a.lab.example')
  })
  test('makes the document of what is chosen, and of nothing else', () => {
    const form = { ...emptyForm, project: 'p', name: 'a.example', service: 'web/front', clusters: ['dc/one'], addresses: '192.0.2.1', ttl: '60', policy: 'failover' as const, order: 'dc/one dc/two' }
    expect(documentOf(form).spec).toEqual({ service: 'web/front', clusters: ['dc/one'], ttl: 60, routing: { policy: 'failover', order: ['dc/one', 'dc/two'] } })
    expect(documentOf({ ...form, kind: 'addresses' }).spec).toEqual({ addresses: ['192.0.2.1'], ttl: 60 })
    expect(documentOf({ ...form, selector: 'region=eu' }).spec.clusters).toEqual({ selector: { region: 'eu' } })
  })
  test('keeps what it does not show', () => {
    const stored: DNSName = { metadata: { name: 'a.example', description: 'kept', revision: 4 }, spec: { cname: 'b.example', scope: 'cluster', recordTypes: ['CNAME'], records: [{ type: 'TXT', values: ['kept'] }] } }
    const back = documentOf(formOf('p', stored), stored)
    expect(back.spec).toEqual(stored.spec)
    expect(back.metadata).toMatchObject({ name: 'a.example', description: 'kept' })
  })
  test('asks for what is missing', () => {
    expect(missing(emptyForm)).toEqual(['a project', 'a host name', 'a Service', 'clusters'])
    expect(missing({ ...emptyForm, project: 'p', name: 'a', kind: 'cname', cname: 'b' })).toEqual([])
  })
  test('is a command too', () => {
    const form = { ...emptyForm, project: 'p', name: 'A.example', service: 'web/front', clusters: ['dc/one', 'dc/two'], addresses: '192.0.2.1 192.0.2.2', cname: 'b.example', provider: 'lab', ttl: '60' }
    const command = (change: Partial<typeof form>) => publishCommand({ ...form, ...change }, documentOf({ ...form, ...change }))
    expect(command({})).toBe('signpost publish a.example --service web/front --clusters dc/one,dc/two --provider lab --ttl 60 --project p')
    expect(command({ selector: 'region=eu tier=1', provider: '', ttl: '' })).toBe('signpost publish a.example --service web/front --selector region=eu,tier=1 --project p')
    expect(command({ kind: 'addresses', provider: '', ttl: '' })).toBe('signpost publish a.example --address 192.0.2.1,192.0.2.2 --project p')
    expect(command({ kind: 'cname', provider: '', ttl: '' })).toBe('signpost publish a.example --cname b.example --project p')
  })
  test('puts faults beside their fields', () => {
    const errors = own([{ pointer: '/spec/addresses/1', detail: 'x' }, { pointer: 'projects/p/names/a#/spec/ttl', detail: 'y' }, { pointer: '', detail: 'z' }], 'projects/p/names/a')
    const faults = faultsOf(errors, ['/spec/addresses', '/spec/ttl'])
    expect([faults.of('/spec/addresses'), faults.of('/spec/ttl'), faults.others.map((e) => e.detail)]).toEqual([['x'], ['y'], ['z']])
    expect(faultsOf([{ pointer: '/spec/ttlx', detail: '' }], ['/spec/ttl']).of('/spec/ttl')).toEqual([])
  })
})

describe('other forms', () => {
  test('tell what a form does not understand in place of dropping it', () => {
    const faults = (input: Partial<ProviderInput>) => Object.entries(providerFaults({ ...emptyProvider, ...input })).filter(([, all]) => all.length > 0)
    expect(faults({ project: 'p', name: 'lab', home: 'edge/hub', parameters: 'interval=5s' })).toEqual([])
    expect(faults({ home: 'built-in' })).toEqual([])
    for (const home of ['Built-in', 'edge', 'edge/', 'a/b/c']) expect(faults({ home })).toEqual([['home', ['must be built-in, or a cluster as provider/cluster']]])
    expect(faults({ parameters: 'policy=sync\na=1\na=2\nb' })).toEqual([['parameters', ['"a" is given twice', '"b" is not of the form key=value', '"policy" has a field of its own']]])
    expect(faults({ project: 'a/b' })).toEqual([['project', ['must not have slashes or spaces']]])
    expect(clusterFaults({ ...emptyCluster, labels: 'region a=b' }).labels).toEqual(['"region" is not of the form key=value'])
    expect(clusterLacks({ ...emptyCluster, provider: 'dc', name: 'one', kubeconfig: 'x', uses: [] })).toEqual(['a use'])
    const draft = providerDraft({ ...emptyProvider, project: 'p', name: 'lab' })
    const taken = (action: 'create' | 'update') => takenError({ documents: [{ path: pathOf(draft), action }] }, draft).map((e) => e.pointer)
    expect([taken('create'), taken('update')]).toEqual([[], ['/metadata/name']])
  })
  test('read lines', () => expect(lines('a=b=c\n\n bad \nd=')).toEqual({ values: { a: 'b=c', d: '' }, faults: ['"bad" is not of the form key=value'] }))
  test('make a provider', () => {
    expect(providerDraft({ ...emptyProvider, project: 'p', name: 'lab', domains: 'a.example, b.example', home: 'edge/hub', environment: 'ETCD_URLS=http://e:2379', secrets: 'PW=s', servers: '192.0.2.53' })).toEqual({
      resource: 'projects/p/dns-update-records',
      metadata: { name: 'lab' },
      spec: {
        provider: 'coredns',
        'external-dns-parameters': { 'domain-filter': ['a.example', 'b.example'], policy: 'sync' },
        environment: { ETCD_URLS: 'http://e:2379' },
        credentials: [{ environment: 'PW', value: 's' }],
        deployOn: { clusterProvider: 'edge', cluster: 'hub' },
        verify: { servers: ['192.0.2.53'] },
      },
    })
  })
  test('make a cluster', () => {
    expect(clusterDraft({ ...emptyCluster, provider: 'dc', name: 'one', kubeconfig: 'ü', labels: 'region=eu' })).toEqual({ resource: 'cluster-providers/dc/clusters', metadata: { name: 'one' }, spec: { kubeconfig: base64('ü'), uses: ['addresses'], labels: { region: 'eu' } } })
    expect(base64('ü')).toBe('w7w=')
  })
  test('are judged once they are whole', () => {
    const provider = { ...emptyProvider, project: 'p', name: 'lab' }
    expect([provider, { ...provider, project: '' }, { ...provider, name: ' ' }, { ...provider, provider: '' }].map(providerLacks)).toEqual([[], ['a project'], ['a name'], ['a DNS provider']])
    const cluster = { ...emptyCluster, provider: 'dc', name: 'one', kubeconfig: 'x' }
    expect([cluster, { ...cluster, reach: 'directory' as const }, { ...cluster, reach: 'directory' as const, directory: 'd' }, { ...cluster, name: ' ' }].map(clusterLacks)).toEqual([[], ['a directory'], [], ['a name']])
  })
  test('know where a document and its parent will be', () => {
    const cluster = { ...emptyCluster, provider: ' dc ', name: 'one' }
    expect([pathOf(clusterDraft(cluster)), pathOf(parentOf(cluster))]).toEqual(['cluster-providers/dc/clusters/one', 'cluster-providers/dc'])
  })
  test('know the faults of their own document', () => expect(ownErrors({ errors: [{ pointer: '/documents/0/spec/x', detail: '' }, { pointer: '/documents/0', detail: '' }] }).map((e) => e.pointer)).toEqual(['/spec/x', '']))
})

describe('the fleet', () => {
  const item = (changes: Partial<FleetItem>): FleetItem => ({ kind: 'cluster', cluster: 'dc/a', healthy: 'True', pending: 0, hosts: { total: 0, unpublished: 0, unverified: 0 }, ...changes })
  test('shows first what needs somebody', () => {
    const grid = gridOf([item({}), item({ cluster: 'dc/z', healthy: 'False' }), item({ cluster: 'dc/m', drained: true }), item({ kind: 'externalDNS', project: 'p', provider: 'lab', healthy: 'True' }), item({ kind: 'externalDNS', project: 'p', provider: 'lab', scope: 'cluster', healthy: 'False' })])
    expect(grid.rows.map((r) => r.cluster)).toEqual(['dc/z', 'dc/m', 'dc/a'])
    expect(grid.rows.map((r) => r.publishers.map((p) => p.healthy))).toEqual([[], [], ['False', 'True']])
    expect(grid.builtIn).toEqual([])
  })
  test('lists the built-in publisher beside the clusters, because it runs in none', () => {
    const within = item({ kind: 'externalDNS', cluster: 'built-in', project: 'p', provider: 'lab' })
    expect(gridOf([item({}), within])).toMatchObject({ rows: [{ cluster: 'dc/a', publishers: [] }], builtIn: [within] })
  })
})

describe('the failover desk', () => {
  test('asks for what is chosen', () => {
    expect(specOf({ ...emptyChoice, labels: 'nonsense', reason: 'x' })).toBeUndefined()
    expect(specOf({ ...emptyChoice, clusters: ['dc/a'], labels: 'region=eu', verb: 'undrain', to: ['dc/b'], reason: ' flood ' })).toEqual({ undrain: { clusters: ['dc/a'], labels: { region: 'eu' } }, reason: 'flood' })
  })
  test('moves to clusters, and says so as the command line does', () => {
    const spec = specOf({ ...emptyChoice, labels: 'region=eu', to: ['dc/b'], toLabels: 'region=us', reason: 'a flood' })
    expect(spec).toEqual({ drain: { labels: { region: 'eu' } }, undrain: { clusters: ['dc/b'], labels: { region: 'us' } }, reason: 'a flood' })
    expect(commandOf(spec ?? {}, true)).toBe("signpost failover region=eu --to dc/b,region=us --reason 'a flood' --preview")
    expect(commandOf({ undrain: { clusters: ['dc/a'] } }, false)).toBe('signpost undrain dc/a')
  })
  test('says which clusters are chosen by ticks and labels', () => {
    const known: { path: string; labels: Record<string, string> }[] = [{ path: 'dc/a', labels: { region: 'eu' } }, { path: 'dc/b', labels: { region: 'us' } }, { path: 'dc/c', labels: { region: 'eu', tier: '1' } }]
    expect([chosenOf(['dc/b'], 'region=eu', known), chosenOf([], 'region=eu tier=1', known), chosenOf([], '', known), chosenOf([], 'region=', known)]).toEqual([['dc/a', 'dc/b', 'dc/c'], ['dc/c'], [], []])
  })
  test('offers the labels that clusters have', () => {
    expect(labelsOf([{ labels: { region: 'us' } }, { labels: { region: 'eu', tier: '1' } }, {}, { labels: { region: 'eu' } }])).toEqual(['region=eu', 'region=us', 'tier=1'])
  })
  test('knows how far it is, and what is in danger', () => {
    const hosts = { moved: 3, answered: 1, none: 1, gone: 0, one: 0, unhealthy: 0, stay: 7 }
    const at = (changes: Partial<typeof hosts>) => progress({ state: 'Moving', hosts: { ...hosts, ...changes } })
    expect([at({}), at({ gone: 1 }), at({ moved: 0, answered: 0, none: 0 })]).toEqual([0.25, 0.5, 1])
    expect(danger({ left: 'none' })).toBe('no address is left')
    expect(danger({})).toBe('')
  })
  test('knows what an administrator may override, and what force allows', () => {
    const none = { detail: 'a.example would be left without any address', allow: 'operators', force: true }
    const rule = { detail: 'fewer than 2 clusters would serve a.example', allow: 'administrators', rule: 'minClusters' as const }
    const nobody = { detail: 'dc+one is abandoned', allow: 'nobody' }
    expect([rulesOf([none, rule, rule]), rulesOf([rule, nobody]), rulesOf([none])]).toEqual([['minClusters'], [], []])
    expect([isForced([]), isForced([none]), isForced([none, rule]), isForced([nobody])]).toEqual([false, true, false, false])
  })
})

describe('clusters', () => {
  test('are spelled with a slash in sentences, and lead to their pages', () => {
    expect(withClusters('external-dns cannot be observed on edge+hub.')).toEqual(['external-dns cannot be observed on ', 'edge/hub', '.'])
    expect(withClusters('edge+berlin, edge+paris-2 and dc.eu+b_1')).toEqual(['', 'edge/berlin', ', ', 'edge/paris-2', ' and ', 'dc.eu/b_1', ''])
    expect(withClusters('there is no Service shop/web on edge/eu-1, edge/eu-2: create shop/web there')).toEqual(['there is no Service shop/web on ', 'edge/eu-1', ', ', 'edge/eu-2', ': create shop/web there'])
    expect(inWords('there is no Service shop/web on edge+hub')).toBe('there is no Service shop/web on edge/hub')
    expect(inWords('unpublish the name and confirm that with the token of its plan')).toBe('unpublish the name and confirm that')
    expect(inWords('"a.example" is given by projects/shop/names/a.example; take it over with ?takeover=store/v1/prod, or remove it there')).toBe('"a.example" is given by project shop; to take it over, copy the command (Copy as CLI) and run it with --takeover store/v1/prod, or remove it there')
    expect(clusterPath('built-in')).toBe('built-in')
  })
  test('are not seen in keys, versions and sums', () => {
    for (const text of ['answers "v=DKIM1; p=MIGf+MA0G/abc+def=="', 'Kubernetes v1.31.2+k3s1', '1 + 1', 'a=b+c', 'x+y+z', 'upgrade on shop/web', 'relies on apps/v1']) expect(withClusters(text)).toEqual([text])
  })
})
