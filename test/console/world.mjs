// A Signpost with the quickstart, and a browser.
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** apiServer plays a Kubernetes API server that has some Services and nothing else; Signpost reaches it by the kubeconfig. */
export async function apiServer(services, uid = 'the-cluster') {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)\/services$/.exec(pathname)?.[1]
    const json = (status, value) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
    if (pathname === '/api/v1/namespaces/kube-system') return json(200, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'kube-system', uid } })
    if (pathname === '/api/v1/services' && searchParams.get('watch')) return response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders() // nothing changes
    if (pathname === '/api/v1/services' || namespace) return json(200, { kind: 'ServiceList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: services.filter((s) => !namespace || s.metadata.namespace === namespace) })
    json(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'c', clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${server.address().port}` } }], contexts: [{ name: 'c', context: { cluster: 'c' } }] }
  return { kubeconfig: Buffer.from(JSON.stringify(config)).toString('base64'), close: () => (server.closeAllConnections(), server.close()) }
}

/** bytes are those of an IPv4 or IPv6 address. */
function bytes(address) {
  if (!address.includes(':')) return address.split('.').map(Number)
  const [head, tail] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const words = tail ? [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail] : head
  return words.map((word) => parseInt(word, 16)).flatMap((word) => [word >> 8, word & 255])
}

/** nameserver plays external-dns and its DNS server: it answers what the DNSEndpoints of a directory say. */
export async function nameserver(directory) {
  const records = (name, type) =>
    readdirSync(directory)
      .filter((file) => file.startsWith('dnsendpoint_'))
      .flatMap((file) => readFileSync(join(directory, file), 'utf8').split(/^\s*- dnsName: /m).slice(1))
      .filter((text) => text.split('\n')[0].trim().replaceAll('"', '') === name && text.includes(`recordType: ${type}\n`))
      .flatMap((text) => {
        const ttl = Number(/recordTTL: (\d+)/.exec(text)?.[1] ?? 300)
        return [...text.matchAll(/^\s*- "?([0-9.]+|[0-9a-f]*:[0-9a-f:]*)"?$/gm)].map((m) => ({ ttl, address: bytes(m[1]) }))
      })
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    let at = 12
    const labels = []
    while (question[at] > 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + question[at]))
      at += question[at] + 1
    }
    const end = at + 5
    const kind = question.readUInt16BE(at + 1)
    const found = [1, 28].includes(kind) ? records(labels.join('.').toLowerCase(), kind === 1 ? 'A' : 'AAAA') : []
    const head = Buffer.alloc(12)
    question.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8400 | (question.readUInt16BE(2) & 0x0100), 2) // an authoritative answer
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(found.length, 6)
    const answers = found.map(({ ttl, address }) => {
      const answer = Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, address.length, ...address])
      answer.writeUInt32BE(ttl, 6)
      return answer
    })
    server.send(Buffer.concat([head, question.subarray(12, end), ...answers]), from.port, from.address)
  })
  await new Promise((resolve) => server.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${server.address().port}`, close: () => server.close() }
}

/** answering starts a server whose provider has a DNS server that answers what is published. */
export async function answering() {
  const started = await new Server(['--allow-local-verify']).start()
  started.quickstart()
  const dns = await nameserver(join(started.dir, 'data', 'clusters', 'hub', 'shop-dns'))
  const provider = '/v2/projects/shop/dns-update-records/lab'
  const { body } = await started.ask('GET', provider)
  const { status } = await started.ask('PUT', provider, { ...body, spec: { ...body.spec, verify: { servers: [dns.address] } } })
  if (status !== 200 || (await started.ask('POST', `${provider}/update`)).status !== 202) throw new Error('the provider does not take the DNS server')
  return { started, dns }
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
