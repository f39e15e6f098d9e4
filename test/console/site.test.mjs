// What readers of the documentation do with its search, in a real browser.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch, open } from './world.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.png': 'image/png', '.svg': 'image/svg+xml' }

let browser, server
before(async () => {
  execFileSync('make', ['-C', root, 'site'], { stdio: 'pipe' })
  server = createServer(async (request, response) => {
    const file = normalize(new URL(request.url, 'http://localhost').pathname.replace(/^\/signpost\//, ''))
    try {
      const content = await readFile(join(root, 'dist', 'site', file))
      response.writeHead(200, { 'Content-Type': types[extname(file)] }).end(content)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  browser = await launch()
})
after(async () => {
  await browser?.close()
  server?.closeAllConnections()
  server?.close()
})

/** type types words into the search. */
function type(page, words) {
  return page.getByRole('searchbox', { name: 'Search the documentation' }).pressSequentially(words)
}

/** find types words into the search, and follows the first page that is found. */
async function find(page, words, title) {
  await type(page, words)
  await page.locator('#found').getByRole('link').first().click()
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

test('a word leads to the page about it, from each directory of the site', async () => {
  const page = await open(browser, `http://127.0.0.1:${server.address().port}/signpost/index.html`)
  page.on('response', (response) => response.ok() || page.faults.push(`${response.status()}: ${response.url()}`))
  await find(page, 'glossary', 'Glossary')
  await find(page, 'FAILOVER', 'Moving traffic between clusters') // and not a decision record about failovers
  await page.getByRole('searchbox').fill('failover nosuchword')
  assert.equal(await page.locator('#found li').count(), 0)
  assert.deepEqual(page.faults, [])
  await page.context().close()
})

test('words that were typed before the search is there are found when it is', async () => {
  const page = await open(browser, 'about:blank')
  let typed
  const words = new Promise((resolve) => (typed = resolve))
  await page.route('**/pages.js', async (route) => {
    await words
    await route.continue()
  })
  await page.goto(`http://127.0.0.1:${server.address().port}/signpost/index.html`, { waitUntil: 'commit' })
  await type(page, 'glossary')
  typed()
  await page.locator('#found').getByRole('link', { name: 'Glossary' }).waitFor()
  assert.deepEqual(page.faults, [])
  await page.context().close()
})
