/** What waits for somebody ends with a signal as everything does: questions, a prompt, an assistant's session, an upload. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { atEndOfTest } from '../support/ends.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
/** Of util-linux. */
const script = '/usr/bin/script'
const soonMs = 5_000
const env = {
  MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
  MUSTER_API_KEY: 'mk_0123456789abcdef',
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
}

/** On a terminal of its own, made by script(1) of util-linux. */
function onTerminal(line: string, cwd: string) {
  const child = spawn(script, ['-qefc', `${process.execPath} ${program} ${line}`, '/dev/null'], {
    cwd,
    env: { ...process.env, ...env },
  })
  atEndOfTest(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', data => {
    out += data
  })
  const ended = once(child, 'close').then(([code]) => code as number)
  /** Some shells run the program in their place, and the program has a process for queries. */
  const running = (): number => {
    const [first = 0] = childrenOf(child.pid ?? 0)
    const isProgram = readFileSync(`/proc/${first}/cmdline`, 'utf8').startsWith(process.execPath)
    return isProgram ? first : (childrenOf(first)[0] ?? 0)
  }
  return {
    out: () => out,
    ended,
    type: (text: string) => void child.stdin.write(text),
    async stop(signal: NodeJS.Signals) {
      const from = performance.now()
      process.kill(running(), signal)
      return { code: await ended, milliseconds: performance.now() - from }
    },
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

const hasTerminal = process.platform === 'linux' && existsSync(script)
const signals = ['SIGTERM', 'SIGINT'] as const

test.runIf(hasTerminal).each(signals)('init ends with %s at its questions', async signal => {
  const cwd = temporaryFolder()
  const terminal = onTerminal('init', cwd)
  await expect.poll(terminal.out, { timeout: 30_000 }).toContain('Name of the connection')
  terminal.type('acme\r')
  await expect.poll(terminal.out, { timeout: 30_000 }).toContain('Address of the service')
  const { code, milliseconds } = await terminal.stop(signal)
  expect([code, milliseconds < soonMs]).toEqual([75, true])
  // In one line, on a terminal that does not know its width.
  expect(terminal.out()).toContain(`muster: stopped by ${signal}: everything read`)
  expect(readdirSync(join(cwd, 'config'))).toEqual([])
})

test.runIf(hasTerminal).each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('init that is left with %s has failed', async (_, typed) => {
  const terminal = onTerminal('init', temporaryFolder())
  await expect.poll(terminal.out, { timeout: 30_000 }).toContain('Name of the connection')
  terminal.type('acme\r')
  await expect.poll(terminal.out, { timeout: 30_000 }).toContain('Address of the service')
  terminal.type(typed)
  expect(await terminal.ended).toBe(1)
  expect(terminal.out()).toContain('muster: the questions were cancelled: run `muster init` again')
})

test.runIf(hasTerminal).each(signals)('the prompt of sql ends with %s, idle and in a query', async signal => {
  const cwd = temporaryFolder()
  await (await openDuckdb(join(cwd, 'w.duckdb'))).close()
  for (const isBusy of [false, true]) {
    const terminal = onTerminal('sql', cwd)
    await expect.poll(terminal.out, { timeout: 30_000 }).toContain('muster> ')
    if (isBusy)
      terminal.type(
        'select count(*) from range(1000000) a, range(1000000) b where hash(a.range, b.range) > 0;\r',
      )
    await wait(2_000)
    const { code, milliseconds } = await terminal.stop(signal)
    expect([code, milliseconds < soonMs]).toEqual([isBusy ? 75 : 0, true])
    expect(terminal.out()).not.toMatch(/unexpected|\n {4}at /)
  }
})

async function assistant() {
  const cwd = temporaryFolder()
  for (const name of ['w.duckdb', 'w.published.duckdb']) await (await openDuckdb(join(cwd, name))).close()
  return start('mcp', { cwd, env, hasInput: true })
}

test('an assistant that sends an endless message gets the limit', async () => {
  const mcp = await assistant()
  mcp.say('x'.repeat(6 * 1_048_576))
  const { code, err } = await mcp.ended
  expect([code, err]).toEqual([
    2,
    'muster: a message on stdin has more than 4 MB: the protocol has one message a line\n',
  ])
})

test('answers a hundred thousand requests of an assistant in little memory, and ends on SIGTERM', async () => {
  const mcp = await assistant()
  const said = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  const clientInfo = { name: 'test', version: '1' }
  mcp.say(said(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }))
  mcp.say(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  mcp.say(said(2, 'tools/call', { name: 'query', arguments: { sql: 'select 1' } }).repeat(100_000))
  await expect.poll(() => mcp.out(), { timeout: 30_000 }).toContain('truncated')
  const [, kilobytes = ''] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${mcp.pid}/status`, 'utf8')) ?? []
  expect(Number(kilobytes)).toBeLessThan(250_000)
  mcp.signal('SIGTERM')
  const { code, milliseconds } = await mcp.ended
  expect([code, milliseconds < soonMs]).toEqual([0, true])
})

/** The sandbox, but what is uploaded is never answered. */
async function neverStored() {
  const sandbox = await openSandbox({ scale: 0.05 })
  const server = createServer(async (request, response) => {
    if (request.method === 'PUT') return
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host: _, 'content-length': __, ...headers } = request.headers
    const answer = await fetch(new URL(request.url ?? '/', sandbox.url), {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const text = (await answer.text()).replaceAll(new URL(sandbox.url).origin, origin)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEndOfTest(() => void server.close().closeAllConnections())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pending = (sandbox.world.all('invoices') as Body[]).find(({ status }) => status === 'pending')
  return {
    url: sandbox.url.replace(new URL(sandbox.url).origin, origin),
    id: pending.id,
    company: pending.company.id,
  }
}

test.each(signals)('files upload ends with %s while the storage does not answer', async signal => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'card.pdf'), `%PDF-${'x'.repeat(100_000)}`)
  const { url, id, company } = await neverStored()
  const upload = start(
    `files upload card.pdf --resource invoice --purpose payment --record ${id} --company ${company}`,
    {
      cwd,
      env: { ...env, MUSTER_BASE_URL: url, MUSTER_API_KEY: sandboxKeys.finance },
    },
  )
  await wait(4_000)
  upload.signal(signal)
  const { code, err, milliseconds } = await upload.ended
  expect([code, milliseconds < soonMs, err]).toEqual([
    75,
    true,
    expect.stringMatching(/^muster: stopped by SIG(TERM|INT)/),
  ])
  expect(readdirSync(cwd)).toEqual(['card.pdf'])
})
