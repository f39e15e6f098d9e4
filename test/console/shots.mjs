// Takes the screenshots of the documentation from a Signpost with the quickstart.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { answering, launch, open, until } from './world.mjs'

const directory = process.argv[2]
mkdirSync(directory, { recursive: true })
const { started: server, dns } = await answering()
const browser = await launch()
const group = 'projects/shop/composite-apps/store/v1/deployment-intent-groups/prod'
const all = process.env.SIGNPOST_SHOTS === 'all' // to look at; the documentation has some
const pages = {
  names: '#/names',
  name: '#/names/www.lab.example',
  plan: `#/plan?owner=${encodeURIComponent(group)}&for=terminate`,
  publish: '#/publish',
  ...(all ? { timeline: '#/names/cake.lab.example?tab=timeline', provider: '#/publish?what=provider', groups: '#/groups?project=shop', fleet: '#/fleet', cluster: '#/fleet/edge/hub', failover: '#/failover', trouble: '#/trouble' } : {}),
}
const views = [
  ['light', { width: 1200, height: 720 }],
  ...(all ? [['dark', { width: 1200, height: 720 }]] : []),
  ...(all ? [['narrow', { width: 360, height: 740 }]] : []),
]
try {
  const put = (name, addresses) => server.ask('PUT', `/v2/projects/shop/names/${name}`, { metadata: { name }, spec: { addresses, ttl: 30 } })
  await put('cake.lab.example', ['203.0.113.7'])
  await put('cake.lab.example', ['203.0.113.7', '203.0.113.8'])
  await put('bread.lab.example', ['203.0.113.21'])
  await until('the names are indexed', async () => (await server.ask('GET', '/v2/names')).body.total === 3)
  await until('the history is written', async () => (await server.ask('GET', '/v2/names/cake.lab.example/history')).body.items.length > 0)
  await until('the names are answered', async () => (await server.ask('GET', '/v2/names?verified=True')).body.total === 3)
  for (const [theme, viewport] of views) {
    const page = await open(browser, `${server.url}/ui/`, { colorScheme: theme === 'dark' ? 'dark' : 'light', viewport, reducedMotion: 'reduce' })
    for (const [name, hash] of Object.entries(pages)) {
      await page.goto(`${server.url}/ui/${hash}`)
      await page.locator('main h1').first().waitFor()
      if (name === 'publish') {
        await page.getByLabel('Project').and(page.locator('select')).selectOption('shop')
        await page.getByLabel('Host name', { exact: true }).fill('pie.lab.example')
        await page.getByLabel('fixed addresses').check()
        await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.9')
        await page.getByRole('button', { name: 'Publish: 1 new name' }).waitFor()
      }
      await page.locator('main .loading').first().waitFor({ state: 'detached' })
      await page.getByText('Live', { exact: true }).waitFor()
      await page.screenshot({ path: join(directory, `${name}-${theme}.png`), fullPage: theme === 'narrow' })
    }
    await page.context().close()
  }
} finally {
  await browser.close()
  dns.close()
  await server.end()
}
