/** Notifications about DAG runs: over a socket and to a real command, each once, and never a reason for a run to fail. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../../src/lib/is-alive.ts'
import { muster, stillClock, temporaryFolder } from '../support/captured-world.ts'
import { atEndOfTest } from '../support/ends.ts'
import { templateFile } from '../support/warehouse-fixture.ts'

interface Message {
  readonly text: string
  readonly severity: string
  readonly notifications: readonly { readonly type: string; readonly subject: string }[]
  readonly authorization: string | undefined
}

/** Takes messages; `answer` gives the status of each. */
async function listener(answer: () => number | 'never' = () => 200) {
  const messages: Message[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      messages.push({ ...JSON.parse(body), authorization: request.headers.authorization })
      const status = answer()
      if (status !== 'never') response.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEndOfTest(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return { messages, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/s3cret-path` }
}

/** A DAG whose tasks need no service: a command that fails or not, as each run needs. */
async function place(notify: string) {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(
    join(cwd, 'config/muster.yaml'),
    `connections:\n  acme:\n    warehouse: duckdb:w.duckdb\n    apiKey: \${KEY}\n    baseUrl: http://127.0.0.1:9/api\n    notify: ${notify}\n`,
  )
  const writeDag = (commands: readonly string[]) => {
    const tasks = commands.map((line, index) => {
      const [run, ...args] = line.split(' ')
      return `  t${index}: { run: ${run}, args: [${args}] }\n`
    })
    writeFileSync(
      join(cwd, 'dags/nightly.yaml'),
      `name: nightly\ndescription: d\nschedule: "30 2 * * *"\ntasks:\n${tasks.join('')}`,
    )
  }
  copyFileSync(await templateFile(), join(cwd, 'w.duckdb'))
  const clock = stillClock()
  const env = { PATH: '/usr/bin:/bin', KEY: 'planted-key-1234', HOOK: '' }
  return {
    cwd,
    writeDag,
    run: (more: object = {}, signal = new AbortController().signal) => {
      // Each run has an id of its own.
      clock.move(60_000)
      return muster('dag run nightly', { cwd, clock, rng: Math.random, env: { ...env, ...more }, signal })
    },
  }
}

// A file that is not there fails a task.
const well = ['config']
const broken = ['config', 'discover nowhere.txt']

test('notifies once of a failed DAG run, across processes, and once of its recovery', async () => {
  const hook = await listener()
  const at = await place(`{ url: "\${HOOK}", token: "\${TOKEN}" }`)
  const env = { HOOK: hook.url, TOKEN: 'planted-token-99' }
  const runs = [well, broken, broken, ['discover nowhere.txt', 'config'], broken, well, well]
  const sent: number[] = []
  for (const commands of runs) {
    at.writeDag(commands)
    const { err } = await at.run(env)
    expect(err).not.toMatch(/s3cret|planted/)
    sent.push(hook.messages.length)
  }
  // Well from the start is no news; the third is as the second; another task that fails is; at last, well again.
  expect(sent, 'messages after each run').toEqual([0, 1, 1, 2, 3, 4, 4])
  expect(hook.messages.map(({ notifications }) => notifications[0]?.type)).toEqual([
    ...['runFailed', 'runFailed', 'runFailed', 'runRecovered'],
  ])
  expect(hook.messages.map(({ severity }) => severity)).toEqual(['error', 'error', 'error', 'info'])
  expect(hook.messages[0]?.text).toMatch(/^acme: nightly failed: t1: \S/)
  expect(hook.messages[3]?.text).toBe('acme: nightly has recovered')
  expect(hook.messages[0]?.authorization).toBe('Bearer planted-token-99')
  expect(JSON.stringify(hook.messages.map(({ text }) => text))).not.toMatch(/planted|s3cret/)
})

test('sends an undelivered message again with the next DAG run, whose result does not change', async () => {
  let status: number | 'never' = 404
  const hook = await listener(() => status)
  const at = await place(`{ url: "\${HOOK}", seconds: 1 }`)
  const env = { HOOK: hook.url }
  at.writeDag(broken)
  const first = await at.run(env)
  expect(first.err).toContain(
    'warning: a notification was not sent, and is tried again by the next command: notify.url: it answered 404\n',
  )
  expect([first.code, hook.messages.length]).toEqual([1, 1])
  status = 503
  expect((await at.run(env)).err).toContain('notify.url: it answered 503')
  expect(hook.messages.length).toBe(4)
  status = 200
  expect((await at.run(env)).err).not.toContain('was not sent')
  expect((await at.run(env)).code).toBe(1)
  expect(hook.messages.length).toBe(5)
})

test.each([
  ['a port on which nothing listens', 'http://127.0.0.1:9/', /it could not be reached \(.+\)/],
  ['an unknown host', 'http://nowhere.invalid/', /it could not be reached \(\w+\)/],
])('%s: a warning', async (_, url, expected) => {
  const at = await place(`{ url: "\${HOOK}", seconds: 1 }`)
  at.writeDag(broken)
  const { code, err } = await at.run({ HOOK: url })
  expect([code, err.split('\n').filter(line => line.includes('notify')).length]).toEqual([1, 1])
  expect(err).toMatch(expected)
})

test('a command gets the message on its stdin and in its environment, and has to end in time', async () => {
  const at = await place("{ command: 'cat > got; echo $MUSTER_SEVERITY $MUSTER_TYPES >> got', seconds: 5 }")
  at.writeDag(broken)
  await at.run()
  expect(readFileSync(join(at.cwd, 'got'), 'utf8')).toMatch(
    /^acme: nightly failed: t1: .*\nerror runFailed\n$/,
  )
  rmSync(join(at.cwd, 'got'))
  const late = await place('{ command: "sleep 60; true", seconds: 1 }')
  late.writeDag(broken)
  const { err } = await late.run()
  expect(err).toContain('notify.command: it did not finish within 1 s')
  const failing = await place('{ command: "exit 7", seconds: 5 }')
  failing.writeDag(broken)
  expect((await failing.run()).err).toContain('notify.command: it ended with exit code 7')
})

test('a command that is under way when muster is stopped ends with it', async () => {
  const at = await place("{ command: 'echo $$ > pid; sleep 300; true', seconds: 300 }")
  at.writeDag(broken)
  const stop = new AbortController()
  const ended = at.run({}, stop.signal)
  const pid = () => (existsSync(join(at.cwd, 'pid')) ? readFileSync(join(at.cwd, 'pid'), 'utf8').trim() : '')
  await expect.poll(pid, { timeout: 20_000 }).not.toBe('')
  stop.abort(new Error('stopped'))
  expect((await ended).err).toContain('notify.command: muster was stopped')
  expect(isAlive(Number(pid()))).toBe(false)
})

test.each([
  ['{}', /notify needs url or command or smtp/],
  ['{ url: "ftp://nowhere" }', /notify\.url must be an address/],
  ['{ url: "http://x/", token: "plain" }', /notify\.token holds the secret itself/],
  ['{ url: "http://x/", seconds: 0 }', /notify\.seconds must be at least 1/],
  ['{ smtp: "smtp://h", emailTo: "a@x.com" }', /notify\.emailFrom is missing: smtp needs it/],
  ['{ smtp: "http://h" }', /notify\.smtp must be smtp:/],
  ['{ url: "http://x/", format: slak }', /must be json, slack or teams, did you mean slack\?/],
  ['{ url: "http://x/", types: { schemaDrft: off } }', /unknown key schemaDrft .*did you mean schemaDrift\?/],
  [
    '{ url: "http://x/", types: { schemaDrift: warn } }',
    /must be error, warning, info or off, did you mean warning\?/,
  ],
  ['{ urll: "http://x/" }', /unknown key urll .*did you mean url\?/],
])('settings %s are refused in one line', async (notify, expected) => {
  const at = await place(notify)
  at.writeDag(well)
  const { code, err } = await at.run()
  expect([code, err]).toEqual([78, expect.stringMatching(expected)])
})
