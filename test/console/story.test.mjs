// What users do with the console, each step in a real browser against a running Signpost.
// The short story runs in ring 2; ring 3 adds the rest.
import assert from 'node:assert/strict'
import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { answering, apiServer, launch, open, Server, until } from './world.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const long = process.env.SIGNPOST_RING === '3'
const group = 'projects/shop/composite-apps/store/v1/deployment-intent-groups/prod'
const evil = '<img src=x onerror=document.title=1>\u202eevil'
const hash = (parts, query = {}) => `/ui/#/${parts.map(encodeURIComponent).join('/')}?${new URLSearchParams(query)}`

const screens = {
  names: hash(['names']),
  'no such names': hash(['names'], { q: 'nothing' }),
  changes: hash(['changes']),
  groups: hash(['groups'], { project: 'shop' }),
  'a name': hash(['names', 'www.lab.example']),
  'a timeline': hash(['names', 'www.lab.example'], { tab: 'timeline' }),
  'a name that nobody has': hash(['names', 'none.lab.example']),
  'a plan': hash(['plan'], { owner: group, for: 'terminate' }),
  publish: hash(['publish']),
  'a provider': hash(['publish'], { what: 'provider' }),
  'a cluster to add': hash(['publish'], { what: 'cluster' }),
  fleet: hash(['fleet']),
  'a cluster': hash(['fleet', 'edge', 'hub']),
  'settings of a provider': hash(['settings', 'projects', 'shop', 'dns-update-records', 'lab']),
  'settings of a cluster': hash(['settings', 'cluster-providers', 'edge', 'clusters', 'hub']),
  failover: hash(['failover']),
  trouble: hash(['trouble']),
}

let browser, server
before(async () => {
  browser = await launch()
  server = await new Server().start()
  server.quickstart()
})
after(async () => {
  await browser?.close()
  await server?.end()
})

/** settled waits until a screen asks for nothing more. */
async function settled(page) {
  await page.locator('main .loading').first().waitFor({ state: 'detached' })
  await page.locator('main h1, main .empty').first().waitFor()
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
}

/** fill types the name of the story into the form. */
async function fill(page, name, address) {
  await page.getByLabel('Host name', { exact: true }).fill(name)
  await page.getByLabel('fixed addresses').check()
  await page.getByLabel('Addresses', { exact: true }).fill(address)
}

describe('the short story', () => {
  test('a name is published from the form, and seen on all screens', async () => {
    const page = await open(browser, server.url)
    await page.waitForURL('**/ui/**') // browsers are led there
    await page.getByRole('row', { name: /www\.lab\.example .*external-dns cannot be observed on edge\/hub/ }).waitFor() // with the reason that it is not known to be published
    await page.getByRole('link', { name: 'Publish a name' }).click()
    await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
    await fill(page, 'Story.LAB.example', '203.0.113.9, 300.0.0.1')
    await page.getByText('"300.0.0.1" is not an IP address').waitFor() // beside the field, while typing
    assert.ok(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled())
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.9')
    await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
    await page.getByRole('heading', { name: 'story.lab.example is accepted' }).waitFor()
    await page.getByText('Instantiated').first().waitFor()
    const endpoints = join(server.dir, 'data', 'clusters', 'hub', 'shop-dns')
    await until('the DNSEndpoint is written', () => readdirSync(endpoints).some((f) => readFileSync(join(endpoints, f), 'utf8').includes('story.lab.example')))
    await page.getByRole('link', { name: 'Look at the name' }).click()
    await page.getByRole('heading', { name: 'story.lab.example', level: 1 }).waitFor()
    assert.match(await page.locator('.chain svg').first().getAttribute('aria-label'), /Release 1/)
    await page.getByRole('cell', { name: '203.0.113.9' }).waitFor()
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.locator('ins', { hasText: '203.0.113.9' }).waitFor()
    await page.goto(server.url + hash(['names'], { q: 'story' }))
    await page.getByRole('link', { name: 'story.lab.example' }).waitFor()
    assert.deepEqual(page.faults, [])

    await page.goto(server.url + hash(['publish'], { project: 'shop' })) // the form does not replace a name that it has not read
    await fill(page, 'https://story.lab.example/', '203.0.113.99')
    await page.getByText('story.lab.example is published already').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled())
    await page.getByRole('link', { name: 'Change it' }).click()
    await page.getByRole('heading', { name: 'Change a name' }).waitFor()
    assert.equal(await page.getByLabel('Addresses', { exact: true }).inputValue(), '203.0.113.9')
    await page.getByRole('button', { name: 'Change: nothing changes' }).click()
    await page.getByRole('heading', { name: 'Nothing of story.lab.example was changed' }).waitFor()
    assert.equal(await page.getByRole('link', { name: /^Undo/ }).count(), 0)
    await page.context().close()
  })

  test('a provider is not added as something else than what was typed', async () => {
    const page = await open(browser, server.url + hash(['publish'], { what: 'provider' }))
    const field = (label) => page.getByLabel(label, { exact: true })
    const add = page.getByRole('button', { name: /provider$/ })
    await field('Project').fill('shop')
    await field('Name').fill('lab')
    await page.getByText('there is one of this name already').waitFor()
    await field('Name').fill('other')
    await page.getByText('the server would take it').waitFor()
    for (const [label, typed, fault] of [['Written by', 'Built-in', 'must be built-in, or a cluster as provider/cluster'], ['More parameters of external-dns', 'policy=upsert-only', '"policy" has a field of its own'], ['Environment', 'ETCD_URLS', 'is not of the form key=value']]) {
      await field(label).fill(typed)
      await page.getByText(fault).waitFor()
      await page.getByText('some fields need a change').waitFor()
      assert.ok(await add.isDisabled(), label)
      await field(label).fill('')
      await page.getByText('the server would take it').waitFor()
    }
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('a provider is changed, and deleted unless names need it', async () => {
    const spare = '/v2/projects/shop/dns-update-records/spare'
    const parameters = { 'domain-filter': ['spare.example'], policy: 'sync' }
    await server.ask('PUT', spare, { metadata: { name: 'spare', description: 'kept' }, spec: { provider: 'coredns', 'external-dns-parameters': parameters, credentials: [{ environment: 'ETCD_PASSWORD', value: 'secret' }] } })
    const page = await open(browser, server.url + hash(['fleet', 'edge', 'hub']))
    await page.getByRole('link', { name: 'settings', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Settings of provider lab of shop' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByRole('dialog').getByText('lab cannot be deleted: it is').waitFor()
    await page.keyboard.press('Escape')

    await page.goto(server.url + hash(['settings', ...spare.split('/').slice(2)]))
    const area = page.getByLabel('Settings', { exact: true }).and(page.locator('textarea'))
    const spec = JSON.parse(await area.inputValue())
    await area.fill(JSON.stringify({ ...spec, 'external-dns-parameters': { ...parameters, policy: 'sinc' } }))
    await page.getByText('/spec/external-dns-parameters/policy').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled())
    await area.fill(JSON.stringify({ ...spec, 'external-dns-parameters': { ...parameters, policy: 'upsert-only' } }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('saved').waitFor()
    const { body } = await server.ask('GET', spare)
    assert.deepEqual([body.metadata.description, body.spec['external-dns-parameters'].policy, body.spec.credentials[0].environment], ['kept', 'upsert-only', 'ETCD_PASSWORD'])
    await page.getByRole('link', { name: 'Plan its deployment' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor()
    assert.equal((await server.ask('GET', spare)).status, 404)
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('a cluster keeps its credentials when its settings change', async () => {
    const path = '/v2/cluster-providers/edge/clusters/kept'
    const kubernetes = await apiServer([service('web', 'frontend', '198.51.100.4')], 'kept')
    try {
      assert.equal((await server.ask('PUT', path, { metadata: { name: 'kept' }, spec: { kubeconfig: kubernetes.kubeconfig, uses: ['addresses'] } })).status, 201)
      const page = await open(browser, server.url + hash(['fleet', 'edge', 'kept']))
      await page.getByRole('link', { name: 'Settings', exact: true }).click()
      await page.getByRole('heading', { name: 'Settings of cluster edge/kept' }).waitFor()
      const area = page.getByLabel('Settings', { exact: true }).and(page.locator('textarea'))
      assert.deepEqual(JSON.parse(await area.inputValue()), { uses: ['addresses'] })
      await area.fill('{"uses": ["addresses"], "labels": {"region": "eu"}}')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('saved').waitFor()
      assert.deepEqual((await server.ask('GET', path)).body.spec.labels, { region: 'eu' })
      assert.equal((await server.ask('GET', `${path}/services`)).body.items.length, 1) // they are read with the kubeconfig
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete it' }).click()
      await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor()
      assert.equal((await server.ask('GET', path)).status, 404)
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      kubernetes.close()
    }
  })

  test('a name is watched until its servers answer it', async () => {
    const { started, dns } = await answering()
    try {
      const page = await open(browser, started.url + hash(['publish'], { name: 'live.lab.example', project: 'shop' }))
      await page.getByLabel('fixed addresses').check()
      await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.44')
      await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
      await page.locator('li', { hasText: 'Answered by its servers' }).getByText('yes').waitFor({ timeout: 60_000 })
      await page.getByRole('link', { name: 'Look at the name' }).click()
      await page.getByRole('row', { name: new RegExp(`${dns.address.replaceAll('.', '\\.')} A 203\\.0\\.113\\.44`) }).waitFor()
      await page.locator('.badge', { hasText: 'answered as published' }).waitFor()
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      dns.close()
      await started.end()
    }
  })

  test('a Service is chosen from those of the clusters', async () => {
    const kubernetes = await apiServer([service('web', 'frontend', '198.51.100.4'), service('kube-system', 'kube-dns', '198.51.100.5')])
    try {
      assert.equal((await server.ask('POST', '/v2/cluster-providers/edge/clusters', { metadata: { name: 'real' }, spec: { kubeconfig: kubernetes.kubeconfig, uses: ['addresses'] } })).status, 201)
      const page = await open(browser, server.url + hash(['publish'], { name: 'chosen.lab.example', project: 'shop' }))
      const field = page.getByRole('combobox', { name: 'Service' })
      await page.getByText('1 to choose from').waitFor()
      assert.deepEqual(await page.locator('datalist option').evaluateAll((all) => all.map((o) => [o.value, o.textContent])), [['web/frontend', 'in edge/real: 198.51.100.4']])
      await field.fill('web/frontend')
      await page.getByRole('button', { name: 'Use it in edge/real' }).click()
      assert.ok(await page.getByRole('checkbox', { name: 'edge/real' }).isChecked())
      await page.getByRole('region', { name: 'The plan' }).getByText('198.51.100.4', { exact: true }).waitFor() // the plan looks at the Service, too
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      kubernetes.close()
      assert.equal((await server.ask('DELETE', '/v2/cluster-providers/edge/clusters/real')).status, 204)
    }
  })

  test('a Service that no cluster has, and a host name that no provider serves, are hard to miss', async () => {
    const kubernetes = await apiServer([service('web', 'frontend', '198.51.100.4')], 'lacking')
    try {
      assert.equal((await server.ask('POST', '/v2/cluster-providers/edge/clusters', { metadata: { name: 'lacking' }, spec: { kubeconfig: kubernetes.kubeconfig, uses: ['addresses'] } })).status, 201)
      const page = await open(browser, server.url + hash(['publish'], { name: 'lost.elsewhere.example', project: 'shop' }))
      await page.getByRole('checkbox', { name: 'edge/lacking' }).check()
      await page.getByRole('combobox', { name: 'Service' }).fill('web/frontent')
      await page.locator('.field', { has: page.getByLabel('Host name', { exact: true }) }).getByText('serves lost.elsewhere.example').waitFor()
      await page.getByLabel('Host name', { exact: true }).fill('lost.lab.example')
      await page.getByRole('alert').getByText('No cluster has Service web/frontent').waitFor()
      const publish = page.getByRole('button', { name: /^Publish without the Service/ })
      assert.ok(await publish.isDisabled())
      await page.getByRole('checkbox', { name: /although no cluster has Service web\/frontent/ }).check()
      assert.ok(await publish.isEnabled())
      await page.getByRole('combobox', { name: 'Service' }).fill('web/frontend')
      await page.getByRole('button', { name: 'Publish: 1 new name' }).waitFor()
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      kubernetes.close()
      assert.equal((await server.ask('DELETE', '/v2/cluster-providers/edge/clusters/lacking')).status, 204)
    }
  })

  test('a pending deploy that removes a name is told on its page and under Trouble, and the desk keeps its form', async () => {
    const intents = `/v2/${group}/dns-intents`
    const { items } = (await server.ask('GET', intents)).body
    for (const { metadata } of items) assert.equal((await server.ask('DELETE', `${intents}/${metadata.name}`)).status, 204)
    try {
      const page = await open(browser, server.url + screens['a name'])
      await page.getByText('The next deploy of group shop/store/v1/prod removes this name.').waitFor()
      await page.goto(server.url + screens.trouble)
      await page.getByText('by the next deploy of shop/store/v1/prod').first().waitFor()
      await page.goto(server.url + screens.failover)
      await page.getByRole('checkbox', { name: 'edge/berlin' }).check()
      await page.getByLabel('Why').fill('flood')
      await page.getByRole('link', { name: 'Fleet' }).click()
      await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor()
      await page.getByRole('link', { name: 'Failover' }).click()
      assert.ok(await page.getByRole('checkbox', { name: 'edge/berlin' }).isChecked())
      assert.equal(await page.getByLabel('Why').inputValue(), 'flood')
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      for (const { metadata, spec } of items) assert.equal((await server.ask('POST', intents, { metadata: { name: metadata.name }, spec })).status, 201)
    }
  })

  test('the plan stands before the button that does it, for the eye and for the keyboard, at every width', async () => {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 360, height: 740 }]) {
      const page = await open(browser, server.url + hash(['publish'], { name: 'order.lab.example', project: 'shop' }), { viewport })
      await page.getByLabel('fixed addresses').check()
      await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.81')
      const button = page.getByRole('button', { name: 'Publish: 1 new name' })
      await button.waitFor()
      const heading = page.getByRole('heading', { name: 'What will happen' })
      const row = page.getByRole('region', { name: 'The plan' }).getByText('203.0.113.81', { exact: true }).first()
      const [above, between, below] = await Promise.all([heading, row, button].map((one) => one.boundingBox()))
      assert.ok(above.y < between.y && between.y < below.y, `${viewport.width} px: the heading is at ${above.y}, the address at ${between.y}, the button at ${below.y}`)
      await page.getByLabel('Addresses', { exact: true }).press('Enter') // which publishes nothing
      await page.waitForFunction(() => document.activeElement?.textContent === 'What will happen')
      for (let i = 0; i < 5 && !(await button.evaluate((b) => b === document.activeElement)); i++) await page.keyboard.press('Tab')
      assert.ok(await button.evaluate((b) => b === document.activeElement))
      assert.equal((await server.ask('GET', '/v2/projects/shop/names/order.lab.example')).status, 404)
      assert.deepEqual(page.faults, [])
      await page.context().close()
    }
  })

  test('a project that a link spells wrong keeps the form, and keys work in it and beside it', async () => {
    const page = await open(browser, server.url + hash(['publish'], { name: 'typo.lab.example', project: '<b>shpo' }))
    const field = page.locator('.field', { has: page.getByLabel('Project') })
    await field.getByText('There is no project <b>shpo in which you may publish.').waitFor()
    const host = page.getByLabel('Host name', { exact: true })
    assert.equal(await host.inputValue(), 'typo.lab.example')
    await host.press('End')
    await host.pressSequentially('/?')
    assert.equal(await host.inputValue(), 'typo.lab.example/?') // they are typed, not taken as keys
    await host.fill('typo.lab.example')
    await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
    await page.getByLabel('fixed addresses').check()
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.82')
    await page.getByRole('button', { name: 'Publish: 1 new name' }).waitFor()
    assert.equal(await field.getByText('There is no project').count(), 0)
    await page.getByRole('heading', { name: 'What will happen' }).focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.waitForFunction(() => document.activeElement?.id === 'search')
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('a plan that is refused says why, and offers no button', async () => {
    const page = await open(browser, server.url + hash(['publish'], { name: 'www.lab.example' }))
    await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
    await page.getByLabel('fixed addresses').check()
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.9')
    await page.locator('.fault, .error').filter({ hasText: 'prod' }).first().waitFor() // the group that has the name
    assert.ok(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled())
    await page.context().close()
  })

  test('a name is unpublished by exactly the plan that was shown', async () => {
    await server.ask('PUT', '/v2/projects/shop/names/gone.lab.example', { metadata: { name: 'gone.lab.example' }, spec: { addresses: ['203.0.113.5'] } })
    const page = await open(browser, server.url + hash(['plan'], { owner: 'projects/shop/names/gone.lab.example', for: 'delete' }))
    await page.getByText('Nothing has happened yet.').waitFor()
    await page.getByRole('row', { name: /gone\.lab\.example A −203\.0\.113\.5 none/ }).waitFor()
    // Meanwhile, somebody else changes the name.
    await server.ask('PUT', '/v2/projects/shop/names/gone.lab.example', { metadata: { name: 'gone.lab.example' }, spec: { addresses: ['203.0.113.6'] } })
    await page.getByRole('button', { name: 'Unpublish: 1 name goes' }).click()
    await page.getByText('Something has changed since you looked.').waitFor()
    assert.equal((await server.ask('GET', '/v2/projects/shop/names/gone.lab.example')).status, 200)
    await page.getByRole('button', { name: 'Look at the plan as it is now' }).click()
    await page.getByRole('button', { name: 'Unpublish: 1 name goes' }).click()
    await page.getByRole('heading', { name: /^(Accepted|Unpublished)$/ }).waitFor()
    await until('the name goes', async () => {
      const left = await server.ask('GET', '/v2/projects/shop/names/gone.lab.example')
      return left.status === 404 || left.body.status.state === 'Terminating'
    })
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('what is known of a name that is gone does not stay', async () => {
    const put = (address) => server.ask('PUT', '/v2/projects/shop/names/short.lab.example', { metadata: { name: 'short.lab.example' }, spec: { addresses: [address] } })
    await put('203.0.113.51')
    const page = await open(browser, server.url + hash(['names', 'short.lab.example']))
    await page.getByRole('cell', { name: '203.0.113.51' }).waitFor()
    await page.route('**/v2/names/short.lab.example', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"type":"about:blank","title":"Not Found","status":404,"detail":"no project publishes it"}' }))
    await put('203.0.113.52') // the event has the page read the name again
    await page.getByText('No project publishes this name.').waitFor()
    assert.equal(await page.getByRole('cell', { name: '203.0.113.51' }).count(), 0)
    await page.getByRole('link', { name: 'Changes', exact: true }).click()
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: /short\.lab\.example changed by anonymous .*(accepted|completed) release 2/ }).waitFor()
    const row = page.getByRole('listitem').filter({ hasText: /short\.lab\.example changed by anonymous/ }).first()
    await row.locator('del', { hasText: '203.0.113.51' }).waitFor({ timeout: 30_000 }) // the history is written some seconds later
    await row.locator('ins', { hasText: '203.0.113.52' }).waitFor()
    await page.getByLabel('Name, cluster, document or reason').fill('short.lab')
    await page.getByText('2 changes', { exact: true }).waitFor()
    await page.getByLabel('Action').selectOption('update')
    await page.getByText('1 change', { exact: true }).waitFor()
    await page.getByLabel('When').selectOption('yesterday')
    await page.getByText('Nothing has changed then.').waitFor()
    await page.context().close()
  })

  test('no screen reads everything, however much there is', async () => {
    /** asks counts the requests of each screen until it has settled. */
    const asks = async () => {
      const counts = {}
      for (const [name, path] of Object.entries(screens)) {
        const page = await open(browser, 'about:blank')
        const asked = []
        const running = new Set()
        page.on('request', (request) => {
          if (!request.url().includes('/v2/')) return
          asked.push(new URL(request.url()).pathname)
          if (!request.url().includes('follow=')) running.add(request)
        })
        for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => running.delete(request))
        await page.goto(server.url + path)
        await settled(page)
        await until('all answers are shown', async () => {
          await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
          return running.size === 0
        })
        counts[name] = asked
        await page.context().close()
      }
      return counts
    }
    const before = await asks()
    const apps = '/v2/projects/shop/composite-apps'
    const { body } = await server.ask('GET', `/v2/${group}`)
    const made = []
    const make = async (path, document) => {
      assert.equal((await server.ask('POST', path, document)).status, 201)
      made.unshift(`${path}/${document.metadata.name}${document.spec.compositeAppVersion ? `/${document.spec.compositeAppVersion}` : ''}`)
    }
    for (const app of ['one', 'two', 'three']) {
      await make(apps, { metadata: { name: app }, spec: { compositeAppVersion: 'v1' } })
      for (let n = 0; n < 8; n++) await make(`${apps}/${app}/v1/deployment-intent-groups`, { metadata: { name: `g${n}` }, spec: body.spec })
    }
    try {
      const after = await asks()
      for (const name of Object.keys(screens)) {
        assert.ok(after[name].length <= before[name].length + 1, `${name} asks ${after[name].length} times, and asked ${before[name].length} times before: ${after[name].join(' ')}`)
        assert.ok(after[name].length <= 32, `${name} asks ${after[name].join(' ')}`) // five of them for the menu
      }
      const page = await open(browser, server.url + screens.groups)
      await page.getByRole('row', { name: /shop\/three\/v1\/g7 Created/ }).waitFor()
      await page.context().close()
    } finally {
      for (const path of made) assert.equal((await server.ask('DELETE', path)).status, 204)
    }
  })

  test('every screen in both themes passes axe, and none is wider than a phone', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(browser, server.url + '/ui/', { colorScheme, reducedMotion: 'reduce', bypassCSP: true })
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(server.url + path)
        await settled(page)
        await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)))
        assert.doesNotMatch(await page.locator('body').innerText(), /\bedge\+/, `${name}: clusters are provider/cluster`)
        await page.evaluate(axe)
        const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
        assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [], `${name}, ${colorScheme}`)
        await page.setViewportSize({ width: 360, height: 740 })
        await settled(page)
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        assert.ok(width <= 360, `${name} is ${width} px wide`)
        await page.setViewportSize({ width: 1280, height: 800 })
      }
      assert.deepEqual(page.faults, [])
      await page.context().close()
    }
  })

  test('the keyboard is enough', async () => {
    const page = await open(browser, server.url + hash(['fleet']))
    await settled(page)
    await page.keyboard.press('/')
    await page.waitForFunction(() => document.activeElement?.id === 'search')
    await page.keyboard.type('www')
    await page.getByText('1 name', { exact: true }).waitFor() // the focus would be lost with a row that goes
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    for (let i = 0; i < 20 && (await focused()) !== 'www.lab.example'; i++) await page.keyboard.press('Tab')
    assert.equal(await focused(), 'www.lab.example')
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none') // the focus is seen
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'www.lab.example', level: 1 }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Trouble', level: 1 }).waitFor()
    await page.context().close()
  })
})

describe('who may do what', () => {
  let guarded, tokens
  const file = (lines) => lines.map((l) => l.join(',')).join('\n') + '\n'
  before(async () => {
    guarded = new Server([], { token: 'root-token' })
    tokens = guarded.write('tokens', file([['root-token', 'root', 'admin'], ['look-token', 'vera', 'viewer'], ['evil-token', evil.replaceAll(',', ''), 'operator', 'shop'], ['work-token', 'olga', 'operator']]))
    guarded.flags = ['--token-file', tokens]
    await guarded.start()
    guarded.quickstart()
  })
  after(() => guarded?.end())

  /** signIn opens a screen and pastes a token. */
  async function signIn(path, token) {
    const page = await open(browser, guarded.url + path)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    return page
  }

  test('a viewer sees everything and is offered no action', async () => {
    const page = await signIn(hash(['names']), 'look-token')
    await page.getByRole('link', { name: 'www.lab.example' }).click()
    await page.getByText('You may look at it, not change it.').waitFor()
    assert.equal(await page.locator('main').getByRole('link', { name: /^Plan|Unpublish|Change|Undo/ }).count(), 0)
    for (const path of [screens.publish, screens['a plan'], screens.failover]) {
      await page.evaluate((to) => (location.hash = to.split('#')[1]), path)
      await page.getByText('Your role does not allow this.').waitFor()
    }
    await page.evaluate((to) => (location.hash = to.split('#')[1]), screens['a cluster'])
    await page.getByText('Preflight').first().waitFor()
    assert.equal(await page.getByRole('link', { name: /^(Drain|Undrain)/ }).count(), 0)
    await page.context().close()
  })

  test('a wrong token is asked for again, and no token is kept', async () => {
    const page = await open(browser, guarded.url + '/ui/')
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByLabel('Token').fill('work-token')
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByRole('link', { name: 'www.lab.example' }).waitFor()
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]))
    assert.ok(!kept.includes('work-token'), kept)
    await page.reload()
    await page.getByLabel('Token').waitFor()
    await page.context().close()
  })

  test('a session that ends keeps what was typed', async () => {
    const page = await signIn(screens.publish, 'work-token')
    await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
    await fill(page, 'kept.lab.example', '203.0.113.77')
    await page.getByRole('button', { name: 'Publish: 1 new name' }).waitFor()
    guarded.write('tokens', file([['root-token', 'root', 'admin'], ['look-token', 'vera', 'viewer'], ['evil-token', evil, 'operator', 'shop'], ['next-token', 'olga', 'operator']]))
    await until('the token is forgotten', async () => (await guarded.ask('GET', '/v2/caller', undefined, 'work-token')).status === 401)
    await page.getByRole('button', { name: 'Publish: 1 new name' }).click({ timeout: 2000 }).catch(() => {}) // the dialog may be there already
    await page.getByText('Your session has ended.').waitFor()
    await page.getByLabel('Token').fill('next-token')
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByText('Live', { exact: true }).waitFor() // the events are followed again
    assert.equal(await page.getByLabel('Host name', { exact: true }).inputValue(), 'kept.lab.example')
    assert.equal(await page.getByLabel('Addresses', { exact: true }).inputValue(), '203.0.113.77')
    await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
    await page.getByRole('heading', { name: 'kept.lab.example is accepted' }).waitFor()
    await page.context().close()
  })

  test('texts of hostile users are texts', async () => {
    const name = 'evil.lab.example'
    const made = await guarded.ask('PUT', `/v2/projects/shop/names/${name}`, { metadata: { name, description: evil }, spec: { addresses: ['203.0.113.66'] } }, 'evil-token')
    assert.equal(made.status, 201)
    const page = await signIn(hash(['names', name], { tab: 'timeline' }), 'look-token')
    await page.getByText('⟨U+202E⟩evil').first().waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    assert.match(await page.title(), /Signpost/)
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })
})

describe('the failover desk', { skip: long ? false : 'ring 3 tells it' }, () => {
  test('refuses what leaves a name without an address, does what was shown, and undoes it', async () => {
    const page = await open(browser, server.url + screens.failover)
    await page.getByRole('checkbox', { name: 'edge/berlin' }).check()
    await page.getByRole('checkbox', { name: 'edge/paris' }).check()
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('www.lab.example would be left without any address').waitFor()
    await page.getByText('1 name left without an address').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Fail over/ }).count(), 0)
    await page.getByRole('checkbox', { name: 'edge/paris' }).uncheck() // which takes the preview away
    assert.equal(await page.getByRole('region', { name: 'Preview' }).count(), 0)
    await page.getByLabel('Why').fill('flood')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Fail over: no name changes' }).click()
    await page.getByRole('heading', { name: 'Failover of edge/berlin' }).waitFor()
    await page.locator('.badge', { hasText: 'Done' }).waitFor() // watched to its end
    const drained = async () => Boolean((await server.ask('GET', '/v2/cluster-providers/edge/clusters/berlin')).body.status?.drained)
    assert.ok(await drained())
    await page.getByRole('button', { name: 'Preview undo' }).click()
    await page.getByRole('button', { name: 'Undo: no name changes' }).click()
    await page.getByText('It undoes').waitFor()
    await until('the cluster is back', async () => !(await drained()))
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })
})

/** service is a Service of type LoadBalancer. */
const service = (namespace, name, ip) => ({ metadata: { namespace, name, uid: `${namespace}-${name}`, resourceVersion: '1' }, spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip }] } } })

describe('a name of two clusters', { skip: long ? false : 'ring 3 tells it' }, () => {
  const path = '/v2/projects/shop/names/api.lab.example'
  const kubernetes = []
  let moving, dns
  before(async () => {
    ;({ started: moving, dns } = await answering())
    for (const [name, region, ip] of [['munich', 'south', '198.51.100.1'], ['boston', 'east', '198.51.100.2']]) {
      kubernetes.push(await apiServer([service('web', 'frontend', ip)], name))
      const spec = { kubeconfig: kubernetes.at(-1).kubeconfig, uses: ['addresses'], labels: { region } }
      assert.equal((await moving.ask('POST', '/v2/cluster-providers/edge/clusters', { metadata: { name }, spec })).status, 201)
    }
    assert.equal((await moving.ask('PUT', path, { metadata: { name: 'api.lab.example' }, spec: { service: 'web/frontend', clusters: ['edge/munich', 'edge/boston'], ttl: 5 } })).status, 201)
    await until('both addresses are answered', async () => (await published()).length === 2 && (await moving.ask('GET', path)).body.status.verified === 'True', 60_000)
  })
  after(async () => {
    await moving?.end()
    dns?.close()
    for (const one of kubernetes) one.close()
  })

  const published = async () => (await moving.ask('GET', path)).body.status.records.flatMap((r) => r.targets)

  /** done waits until a failover has ended, with its one name as it says. */
  async function done(page, says = '1 of 1 name is answered') {
    await page.getByText(says).waitFor({ timeout: 60_000 })
    await page.locator('.badge', { hasText: 'Done' }).waitFor()
    assert.equal(await page.getByRole('cell', { name: /^not (yet|seen)$/ }).count(), 0)
  }

  test('leaves a region, is forced out of the other one, and comes back', async () => {
    const page = await open(browser, moving.url + screens.failover)
    await page.getByLabel('And all clusters with labels').fill('region=south')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('row', { name: /api\.lab\.example A −198\.51\.100\.1 198\.51\.100\.2 198\.51\.100\.2 ?of edge\/boston lab .*one address is left/ }).waitFor()
    await page.getByRole('button', { name: 'Fail over: 1 name changes' }).click()
    await page.getByRole('heading', { name: 'Failover of edge/munich' }).waitFor()
    await done(page)
    assert.deepEqual(await published(), ['198.51.100.2'])

    await page.goto(moving.url + hash(['failover'], { drain: 'edge/boston' }))
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('It is refused, unless you force it.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Fail over/ }).count(), 0)
    await page.getByRole('checkbox', { name: 'I want it all the same: 1 name will have no address' }).check()
    await page.getByRole('button', { name: 'Fail over by force: 1 name loses its last address' }).click()
    await page.getByText('It was forced').waitFor()
    await done(page, '1 name has no address since.')
    assert.deepEqual(await published(), [])

    await page.getByRole('button', { name: 'Preview undo' }).click()
    await page.getByRole('button', { name: 'Undo: 1 name changes' }).click()
    await page.getByText('It undoes').waitFor()
    await done(page)
    assert.deepEqual(await published(), ['198.51.100.2'])
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('moves to another cluster in one step, and the preview is there again after a look elsewhere', async () => {
    const page = await open(browser, moving.url + screens.failover)
    await page.getByRole('group', { name: 'Clusters', exact: true }).getByRole('checkbox', { name: 'edge/boston' }).check()
    await page.getByText('Chosen: edge/boston.').waitFor()
    await page.getByText('Undrain other clusters in the same step').click()
    await page.getByRole('group', { name: 'Drained clusters' }).getByRole('checkbox', { name: 'edge/munich' }).check()
    assert.equal(await page.getByRole('button', { name: 'Copy as CLI' }).first().getAttribute('title'), 'signpost failover edge/boston --to edge/munich --preview')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('region', { name: 'Preview' }).getByRole('link', { name: 'api.lab.example' }).click()
    await page.getByRole('heading', { name: 'api.lab.example', level: 1 }).waitFor()
    await page.goBack()
    await page.getByText('Drains edge/boston. Undrains edge/munich.').waitFor()
    await page.getByRole('button', { name: 'Fail over: 1 name changes' }).click()
    await page.getByRole('heading', { name: 'Failover of edge/boston to edge/munich' }).waitFor()
    await done(page)
    assert.deepEqual(await published(), ['198.51.100.1'])
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('says on its page and on that of the cluster that the cluster cannot be reached', async () => {
    kubernetes[0].close()
    const page = await open(browser, moving.url + hash(['names', 'api.lab.example']))
    const told = page.locator('.fault').filter({ hasText: 'edge/munich cannot be reached' })
    await told.getByText('198.51.100.1 stays: no other cluster of the name is known to be healthy').waitFor({ timeout: 60_000 })
    await told.getByRole('link', { name: 'edge/munich' }).first().click()
    await page.getByText('Signpost cannot reach this cluster').waitFor()
    await page.getByText('Names that have no other healthy cluster keep the addresses that they have from it.').waitFor()
    await page.getByRole('link', { name: 'api.lab.example' }).waitFor()
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('shows how the probes of its addresses do', async () => {
    const probe = { type: 'TCP', port: 9, interval: '2s', timeout: '1s', failures: 1 }
    assert.equal((await moving.ask('PUT', '/v2/projects/shop/names/probed.lab.example', { metadata: { name: 'probed.lab.example' }, spec: { addresses: ['203.0.113.90'], health: { probe } } })).status, 201)
    const page = await open(browser, moving.url + hash(['names', 'probed.lab.example']))
    const probes = page.locator('section', { has: page.getByRole('heading', { name: 'Probes of the addresses' }) })
    await probes.getByRole('row', { name: /^203\.0\.113\.90 (fails|not known, counts as healthy)/ }).waitFor() // by the network of the machine
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })
})

describe('safety rules', { skip: long ? false : 'ring 3 tells it' }, () => {
  test('forbid a failover, and an administrator overrides them', async () => {
    assert.equal((await server.ask('PUT', '/v2/safety-rules', { minClusters: 2 })).status, 200)
    try {
      const page = await open(browser, server.url + screens.failover)
      await page.getByRole('checkbox', { name: 'edge/berlin' }).check()
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByText('It is refused.').waitFor()
      assert.equal(await page.getByRole('button', { name: /^Fail over/ }).count(), 0)
      await page.getByRole('button', { name: 'Preview without the rule minClusters' }).click()
      await page.getByText('which you override as an administrator').waitFor()
      await page.getByRole('button', { name: /^Fail over/ }).click()
      await page.getByRole('heading', { name: 'Failover of edge/berlin' }).waitFor()
      assert.ok((await server.ask('GET', '/v2/cluster-providers/edge/clusters/berlin')).body.status?.drained)
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      await server.ask('PUT', '/v2/safety-rules', {})
      await server.ask('POST', '/v2/cluster-providers/edge/clusters/berlin/undrain')
    }
  })
})

describe('trouble', { skip: long ? false : 'ring 3 tells it' }, () => {
  test('shows an object of somebody else that is in the way, until it is gone', async () => {
    const groups = '/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups'
    const { body } = await server.ask('GET', `${groups}/prod`)
    const apps = structuredClone(body.spec.apps)
    for (const manifest of apps[0].manifests) manifest.metadata.name = 'clash'
    const foreign = join(server.dir, 'data', 'clusters', 'berlin', 'shop', 'service_clash.yaml')
    writeFileSync(foreign, 'apiVersion: v1\nkind: Service\nmetadata:\n  name: clash\n  namespace: shop\nspec: {}\n')
    assert.equal((await server.ask('POST', groups, { metadata: { name: 'clash' }, spec: { ...body.spec, apps } })).status, 201)
    assert.equal((await server.ask('POST', `${groups}/clash/instantiate`)).status, 202)
    const page = await open(browser, server.url + screens.trouble)
    const conflicts = page.locator('section', { has: page.getByRole('heading', { name: 'Conflicts' }) })
    await conflicts.getByText('Service shop/clash').waitFor({ timeout: 40_000 })
    await conflicts.getByRole('link', { name: 'edge/berlin' }).waitFor()
    rmSync(foreign)
    await conflicts.getByText('none').waitFor({ timeout: 60_000 })
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })
})

describe('any display', { skip: long ? false : 'ring 3 tells it' }, () => {
  test('has room for every screen at 200 % zoom', async () => {
    const page = await open(browser, server.url + '/ui/', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }) // 1280 by 800 at 200 %
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(server.url + path)
      await settled(page)
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 640, `${name} scrolls sideways`)
      const cut = await page.evaluate(() => [...document.querySelectorAll('body *')].filter((e) => ['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && !e.closest('.hidden, .listhead, .cards thead, [title]')).map((e) => e.outerHTML.slice(0, 120)))
      assert.deepEqual(cut, [], name)
    }
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('shows pictures in the colours that the system forces', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(browser, server.url + screens['a name'], { forcedColors: 'active', colorScheme })
      await settled(page)
      const [box, edge, text, ground] = await page.evaluate(() => {
        const style = (selector) => getComputedStyle(document.querySelector(selector))
        return [style('.chain .node rect').fill, style('.chain .edge').stroke, style('.chain .title').fill, style('main .card').backgroundColor]
      })
      assert.equal(box, ground)
      assert.equal(edge, text)
      assert.notEqual(box, text)
      assert.equal(await page.locator('.badge').first().evaluate((badge) => getComputedStyle(badge).borderTopStyle), 'solid')
      await page.context().close()
    }
  })
})

describe('bad answers', { skip: long ? false : 'ring 3 tells it' }, () => {
  const www = '**/v2/names/www.lab.example'

  /** changed opens a screen for which the answers of some paths are others. */
  async function changed(path, pattern, change, options = {}) {
    const page = await open(browser, 'about:blank', options)
    await page.route(pattern, async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      change(body)
      await route.fulfill({ response, json: body })
    })
    await page.goto(server.url + path)
    return page
  }

  /** fits tells that a page is no wider than its window, and that nothing failed. */
  async function fits(page) {
    const [is, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    assert.ok(is <= room, `${is} px of ${room}`)
    assert.deepEqual(page.faults, [])
    await page.context().close()
  }

  test('of 10,000 characters, 500 targets and 300 documents fit', async () => {
    const page = await changed(
      screens['a name'],
      www,
      (body) => {
        body.summary = 'x'.repeat(10_000)
        const [owner] = body.owners
        owner.message = `${evil} ${'long '.repeat(2000)}`
        owner.documents = Array.from({ length: 300 }, (_, i) => ({ path: `projects/shop/names/n${i}`, revision: 1, current: 1 }))
        owner.records[0].targets = Array.from({ length: 500 }, (_, i) => `203.0.${i >> 8}.${i & 255}`)
        owner.records[0].answers = Array.from({ length: 30 }, (_, i) => ({ server: `${'s'.repeat(60)}${i}.example:53`, at: '2226-01-01T00:00:00Z', targets: [], message: evil.repeat(50) }))
      },
      { viewport: { width: 360, height: 740 } },
    )
    await page.getByText('all 10,000 characters').first().waitFor()
    await page.getByRole('button', { name: /^Show all 50\d rows$/ }).click()
    await page.getByRole('cell', { name: '203.0.1.243' }).waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    await fits(page)
  })

  test('of long reasons are read whole in the list of names, and no row covers another', async () => {
    const reason = (i) => `${evil} ${'there is no Service '.repeat(1 + (i % 20))}in ${i}`
    const page = await changed(
      screens.names,
      '**/v2/names?*',
      (body) => {
        body.items = Array.from({ length: 60 }, (_, i) => ({ ...body.items[0], name: `n${i}.${'a-long-label-'.repeat(4)}.example`, owner: group, ...(i % 3 ? { reason: reason(i) } : { reason: undefined }) }))
        Object.assign(body, { total: 60, hosts: 60, continue: undefined })
      },
      { viewport: { width: 360, height: 740 } },
    )
    const body = page.locator('.listbody')
    for (const at of ['n1.', 'n20.', 'n38.', 'n59.']) {
      for (let i = 0; i < 30 && (await body.getByText(at).count()) === 0; i++) await body.evaluate((box) => box.scrollBy(0, 600))
      await body.getByText(at).first().scrollIntoViewIfNeeded()
      const rows = () => body.locator('[role=row]').evaluateAll((all) => all.map((row) => ({ n: Number(row.dataset.index), top: row.offsetTop + new DOMMatrix(getComputedStyle(row).transform).f, height: row.offsetHeight, wide: row.scrollWidth > row.clientWidth, reason: row.querySelector('.reason').textContent })).sort((a, b) => a.n - b.n))
      const seen = await until('rows stand below each other', async () => {
        const all = await rows()
        return all.every((row, i) => i === 0 || Math.abs(row.top - all[i - 1].top - all[i - 1].height) < 1.5) && all
      })
      assert.deepEqual(seen.filter((row) => row.wide), [], at)
      for (const { n, reason } of seen.filter((row) => row.n % 3)) assert.match(reason, new RegExp(`in ${n}$`))
    }
    await body.getByRole('link', { name: 'shop/store/v1/prod' }).last().click()
    await page.locator('tbody tr').filter({ hasText: 'shop/store/v1/prod' }).waitFor()
    assert.equal(await page.locator('tbody tr').count(), 1)
    await fits(page)
  })

  test('of 300 clusters fit', async () => {
    const more = (body) => {
      const one = body.items.find((i) => i.kind === 'cluster')
      body.items.push(...Array.from({ length: 300 }, (_, i) => ({ ...one, cluster: `edge/a-cluster-with-a-long-name-${i}` })))
    }
    const page = await changed(screens.fleet, '**/v2/fleet?*', more, { viewport: { width: 360, height: 740 } })
    await page.getByText('303 clusters').waitFor()
    await page.getByLabel('Cluster or label').fill('name-299')
    assert.equal(await page.locator('tbody tr').count(), 1)
    await fits(page)
  })

  test('of a newer server do not break a screen', async () => {
    const page = await changed(screens['a name'], www, (body) => {
      body.more = { of: 'something' }
      body.owners[0].state = 'Resting'
      body.owners[0].records[0].conditions.push({ type: 'Blessed', status: 'Maybe', reason: 'New', message: '', lastTransitionTime: 'soon' })
    })
    await page.locator('.badge', { hasText: 'Resting' }).waitFor()
    await fits(page)
  })

  test('of a server without time or with too many requests are asked for again', async () => {
    for (const [status, says] of [[429, 'too many requests'], [503, 'not ready']]) {
      const page = await open(browser, 'about:blank')
      let asked = 0
      await page.route('**/v2/caller', (route) => (++asked > 2 ? route.fallback() : route.fulfill({ status, headers: { 'Retry-After': '1' }, contentType: 'application/problem+json', body: JSON.stringify({ title: says, status, detail: says }) })))
      await page.goto(server.url + screens.names)
      await page.getByRole('link', { name: 'www.lab.example' }).waitFor()
      assert.equal(asked, 3)
      await page.context().close()
    }
  })

  test('of an ingress in place of the server are told as such', async () => {
    const page = await open(browser, 'about:blank')
    await page.route('**/v2/fleet?*', (route) => route.fulfill({ status: 403, contentType: 'text/html', body: '<h1>No</h1>' }))
    await page.goto(server.url + screens.fleet)
    await page.getByRole('alert').getByText('Your role does not allow this.').waitFor()
    await page.context().close()
  })

  test('without JavaScript, a sentence leads to the command line', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(server.url + '/ui/')
    assert.match(await page.locator('noscript').innerText(), /signpost find/)
    await context.close()
  })
})

describe('the long story', { skip: long ? false : 'ring 3 tells it' }, () => {
  test('a server that restarts in between is found again', async () => {
    const page = await open(browser, server.url + '/ui/')
    await page.getByText('Live', { exact: true }).waitFor()
    await server.stop()
    await page.getByText('Connection lost, trying again').waitFor()
    await server.start()
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
    await server.ask('PUT', '/v2/projects/shop/names/after.lab.example', { metadata: { name: 'after.lab.example' }, spec: { addresses: ['203.0.113.8'] } })
    await page.getByRole('link', { name: 'after.lab.example' }).waitFor({ timeout: 30_000 }) // by the event, without a reload
    await page.context().close()
  })

  test('a server that restarts asks nobody to sign in again, and what was typed stays', async () => {
    const guarded = new Server([], { token: 'root-token' })
    guarded.flags = ['--token-file', guarded.write('tokens', 'root-token,root,admin\nwork-token,olga,operator\n')]
    await guarded.start()
    try {
      guarded.quickstart()
      const page = await open(browser, guarded.url + screens.publish)
      await page.getByLabel('Token').fill('work-token')
      await page.getByRole('button', { name: 'Sign in with the token' }).click()
      await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
      await fill(page, 'stays.lab.example', '203.0.113.78')
      await page.getByRole('button', { name: 'Publish: 1 new name' }).waitFor()
      await guarded.stop()
      await page.getByText('Connection lost, trying again').waitFor()
      await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
      await page.getByText('The server cannot be reached.').first().waitFor()
      await guarded.start()
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
      assert.equal(await page.getByRole('dialog').count(), 0)
      assert.equal(await page.getByLabel('Addresses', { exact: true }).inputValue(), '203.0.113.78')
      await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
      await page.getByRole('heading', { name: 'stays.lab.example is accepted' }).waitFor()
      await page.context().close()
    } finally {
      await guarded.end()
    }
  })

  test('a name goes back to an earlier release from its timeline', async () => {
    const path = '/v2/projects/shop/names/back.lab.example'
    const put = async (addresses, status) => assert.equal((await server.ask('PUT', path, { metadata: { name: 'back.lab.example' }, spec: { addresses, ttl: 30 } })).status, status)
    await put(['203.0.113.60'], 201)
    await put(['203.0.113.61'], 200)
    const page = await open(browser, server.url + hash(['names', 'back.lab.example'], { tab: 'timeline' }))
    await page.getByRole('listitem').filter({ hasText: 'release 1' }).getByRole('link', { name: 'Plan to go back to release 1' }).click()
    await page.getByRole('heading', { name: 'Go back to release 1' }).waitFor()
    await page.getByRole('button', { name: 'Go back: 1 name changes' }).click()
    await page.getByRole('heading', { name: 'back.lab.example is accepted' }).waitFor()
    assert.deepEqual((await server.ask('GET', path)).body.spec.addresses, ['203.0.113.60'])
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('what was just done is undone from where it was done', async () => {
    const page = await open(browser, server.url + hash(['publish'], { name: 'undo.lab.example', project: 'shop' }))
    const at = async () => (await server.ask('GET', '/v2/projects/shop/names/undo.lab.example')).body.spec?.addresses
    await page.getByLabel('fixed addresses').check()
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.70')
    await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
    await page.getByRole('link', { name: 'Look at the name' }).click()
    await page.getByRole('heading', { name: 'Owner: project shop' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Go back to a release' }).count(), 0) // there is none before
    await page.getByRole('link', { name: 'Change', exact: true }).click()
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.71')
    await page.getByRole('button', { name: 'Change: 1 name changes' }).click()
    await page.getByRole('link', { name: 'Undo: go back to release 1' }).click()
    await page.getByRole('heading', { name: 'Go back to release 1' }).waitFor()
    await page.getByRole('button', { name: 'Go back: 1 name changes' }).click()
    await page.getByRole('heading', { name: 'undo.lab.example is accepted' }).waitFor()
    assert.deepEqual(await at(), ['203.0.113.70'])
    await page.getByRole('link', { name: 'Look at the name' }).click()
    await page.getByRole('link', { name: 'Go back to a release' }).click()
    await page.getByRole('link', { name: 'Plan to go back to release 2' }).waitFor()
    await page.getByRole('link', { name: 'Why' }).click()
    await page.getByRole('link', { name: 'Unpublish' }).click()
    await page.getByRole('button', { name: 'Unpublish: 1 name goes' }).click()
    await page.locator('.badge', { hasText: 'gone' }).first().waitFor({ timeout: 60_000 })
    await page.getByRole('link', { name: 'Undo: publish it again' }).click()
    await page.getByRole('button', { name: 'Publish: 1 new name' }).click()
    await page.getByRole('heading', { name: 'undo.lab.example is accepted' }).waitFor()
    assert.deepEqual(await at(), ['203.0.113.70'])
    assert.deepEqual(page.faults, [])
    await page.context().close()
  })

  test('a terminated group says what went and what stays, and comes back', async () => {
    const own = await new Server().start()
    try {
      own.quickstart()
      const page = await open(browser, own.url + screens['a plan'])
      await page.getByText('1 object stays as it is').waitFor()
      await page.getByRole('button', { name: 'Terminate: 1 name goes' }).click()
      await page.getByRole('heading', { name: 'Terminated' }).waitFor({ timeout: 60_000 })
      await page.getByRole('row', { name: 'www.lab.example goes gone' }).waitFor()
      await page.getByText('The documents of the group stay').waitFor()
      await page.getByRole('link', { name: 'Groups of the project' }).waitFor()
      await page.getByRole('link', { name: 'Undo: plan to deploy it again' }).click()
      await page.getByRole('button', { name: 'Deploy: 1 new name' }).click()
      await page.getByRole('heading', { name: 'Accepted' }).waitFor()
      await page.getByRole('row', { name: /^www\.lab\.example new .*203\.0\.113\.10/ }).waitFor()
      await page.getByRole('link', { name: 'Undo: plan to terminate it' }).waitFor()
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      await own.end()
    }
  })

  test('what is typed survives a reload, and another one changes it in between', async () => {
    const name = 'twice.lab.example'
    const path = `/v2/projects/shop/names/${name}`
    await server.ask('PUT', path, { metadata: { name }, spec: { addresses: ['203.0.113.1'] } })
    const page = await open(browser, server.url + hash(['publish'], { name, project: 'shop' }))
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.2')
    await page.reload()
    assert.equal(await page.getByLabel('Addresses', { exact: true }).inputValue(), '203.0.113.2')
    await page.getByRole('button', { name: 'Change: 1 name changes' }).waitFor()
    await server.ask('PUT', path, { metadata: { name }, spec: { addresses: ['203.0.113.3'] } })
    await page.getByRole('button', { name: 'Change: 1 name changes' }).click()
    await page.getByText('Something has changed since you looked.').waitFor()
    assert.deepEqual((await server.ask('GET', path)).body.spec.addresses, ['203.0.113.3'])
    await page.context().close()
  })

  test('users sign in at an issuer by code and PKCE', async () => {
    const issuer = await startIssuer()
    const signed = new Server(['--oidc-issuer', issuer.url, '--oidc-audience', 'signpost', '--console-client-id', 'console'])
    await signed.start()
    try {
      const page = await open(browser, signed.url + hash(['fleet']))
      await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor() // where the user wanted to go
      await page.locator('.who', { hasText: 'anna' }).waitFor()
      assert.equal(issuer.asked.code_challenge_method, 'S256')
      assert.equal(createHash('sha256').update(issuer.verifier).digest('base64url'), issuer.asked.code_challenge)
      const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]))
      assert.ok(!/eyJ|code=|verifier/.test(kept), kept)
      assert.deepEqual(page.faults, [])
      await page.context().close()
    } finally {
      await signed.end()
      issuer.close()
    }
  })
})

/** startIssuer is an OpenID Connect issuer that signs anna in at once. */
async function startIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const issuer = { asked: {}, verifier: '' }
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const server = createServer((request, response) => {
    const url = new URL(request.url, issuer.url)
    const json = (value) => {
      response.setHeader('Access-Control-Allow-Origin', '*')
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(value))
    }
    if (url.pathname === '/.well-known/openid-configuration') return json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, authorization_endpoint: `${issuer.url}/authorize`, token_endpoint: `${issuer.url}/token` })
    if (url.pathname === '/keys') return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }] })
    if (url.pathname === '/authorize') {
      issuer.asked = Object.fromEntries(url.searchParams)
      const back = new URL(issuer.asked.redirect_uri)
      back.searchParams.set('code', 'the-code')
      back.searchParams.set('state', issuer.asked.state)
      response.writeHead(302, { Location: back.href })
      return response.end()
    }
    let body = ''
    request.on('data', (text) => (body += text))
    request.on('end', () => {
      issuer.verifier = new URLSearchParams(body).get('code_verifier') ?? ''
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: issuer.url, sub: 'anna', iat: now, exp: now + 600, roles: ['viewer'] }
      const sign = (more) => {
        const text = `${part({ alg: 'RS256', kid: '1', typ: 'JWT' })}.${part({ ...claims, ...more })}`
        return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`
      }
      json({ access_token: sign({ aud: 'signpost' }), id_token: sign({ aud: 'console', nonce: issuer.asked.nonce }), token_type: 'Bearer', expires_in: 600 })
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer.url = `http://127.0.0.1:${server.address().port}`
  issuer.close = () => server.close()
  return issuer
}
