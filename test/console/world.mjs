// A Signpost with the quickstart, and a browser.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const program = process.env.SIGNPOST_PROGRAM
const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url))

/** until waits for a condition, and gives what it answers. */
export async function until(what, condition, patience = 30_000) {
  const end = Date.now() + patience
  for (;;) {
    const is = await condition()
    if (is) return is
    if (Date.now() > end) throw new Error(`${what}: not within ${patience / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Server is a running Signpost. */
export class Server {
  constructor(flags = [], { token } = {}) {
    this.dir = mkdtempSync(join(tmpdir(), 'signpost-console-'))
    this.flags = flags
    this.token = token
    this.listen = '127.0.0.1:0'
  }

  async start() {
    const ready = join(this.dir, 'ready.json')
    rmSync(ready, { force: true })
    this.log = ''
    this.process = spawn(program, ['serve', '--listen', this.listen, '--grpc-listen', '127.0.0.1:0', '--data-dir', join(this.dir, 'data'), '--ready-file', ready, ...this.flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (text) => (this.log += text))
    await until('the server is ready', () => {
      if (this.process.exitCode !== null) throw new Error(`the server has ended:\n${this.log.slice(-2000)}`)
      return existsSync(ready)
    })
    this.listen = JSON.parse(readFileSync(ready, 'utf8')).http // the same address after a restart
    this.url = `http://${this.listen}`
    return this
  }

  async stop() {
    if (this.process?.exitCode === null) {
      const gone = new Promise((resolve) => this.process.once('exit', resolve))
      this.process.kill('SIGTERM')
      await gone
    }
  }

  async end() {
    await this.stop()
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** run runs a command of signpost. */
  run(...args) {
    return execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, SIGNPOST_SERVER: this.url, ...(this.token ? { SIGNPOST_TOKEN: this.token } : {}) } })
  }

  /** quickstart applies and deploys the quickstart. */
  quickstart() {
    this.run('apply', '-f', quickstart)
    this.run('instantiate', 'shop/store/v1/prod', '--wait')
  }

  /** ask asks the API. */
  async ask(method, path, body, token = this.token) {
    const answer = await fetch(this.url + path, { method, headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(body ? { 'Content-Type': 'application/json' } : {}) }, ...(body ? { body: JSON.stringify(body) } : {}) })
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }

  write(name, text) {
    const file = join(this.dir, name)
    writeFileSync(file, text)
    return file
  }
}

/** launch starts a browser that asks nobody but this machine. */
export const launch = () =>
  chromium.launch({
    executablePath: process.env.SIGNPOST_CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
  })

/** open opens a page, and gathers what goes wrong in it. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  page.faults = []
  page.on('pageerror', (error) => page.faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to|violates/i.test(message.text())) page.faults.push(`policy: ${message.text()}`)
  })
  page.on('request', (request) => {
    const at = new URL(request.url())
    if (at.protocol.startsWith('http') && !['127.0.0.1', 'localhost'].includes(at.hostname)) page.faults.push(`asks ${request.url()}`)
  })
  await page.goto(url)
  return page
}
