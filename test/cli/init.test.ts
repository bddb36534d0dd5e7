/** `muster init`: its template, settings for the sandbox, and the questions that it asks on a terminal. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import { wrapped } from '../../src/cli/terminal/wrapped.ts'
import { connectionNamed, loadSettings } from '../../src/config/settings.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { captured, muster, temporaryFolder } from '../support/captured-world.ts'
import { atEndOfTest } from '../support/ends.ts'

const atConfig = (cwd: string, name: string): string => readFileSync(join(cwd, 'config', name), 'utf8')

test('--sandbox writes settings that load as they are, with the key in a file of its own', async () => {
  const { code, out, cwd } = await muster('init --sandbox')
  expect(code).toBe(0)
  const connection = connectionNamed(loadSettings({ env: {}, cwd }))
  const port = /muster sandbox --port (\d+)/.exec(out)?.[1]
  expect(connection.baseUrl).toBe(`http://127.0.0.1:${port}/api/open/v1`)
  expect(connection.apiKey.reveal()).toBe('sandbox-company-key')
  expect(statSync(join(cwd, 'secrets/sandbox-api-key')).mode & 0o777).toBe(0o600)
  expect(atConfig(cwd, 'muster.yaml')).not.toMatch(/acme/i)
})

test('its steps stay under their text on a narrow terminal', () => {
  const step = '  1. start it in another terminal: `muster sandbox --port 4010`'
  expect(wrapped(step, 50)).toBe('  1. start it in another terminal:\n     `muster sandbox --port 4010`')
})

test('no line of the template is longer than an editor shows', async () => {
  const { cwd } = await muster('init')
  const lines = atConfig(cwd, 'muster.yaml').split('\n')
  expect(lines.filter(line => line.length > 120)).toEqual([])
})

test('the schema that the first line names is written beside, and replaced only where it is ours', async () => {
  const { cwd } = await muster('init')
  expect(JSON.parse(atConfig(cwd, 'muster.schema.json'))).toMatchObject({ title: 'Settings of muster' })
  writeFileSync(join(cwd, 'config/muster.schema.json'), '{}')
  const again = await muster('init --config config/other.yaml', { cwd })
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('muster did not write it')])
  expect(atConfig(cwd, 'muster.schema.json')).toBe('{}')
})

describe('on a terminal', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await keptSandbox({ seed: 1, scale: 0.01, clock: systemClock })
    return () => sandbox.close()
  })

  /** Types each answer once its question is on the screen. */
  async function answering(answers: readonly (readonly [question: string, answer: string])[], line = 'init') {
    const cwd = temporaryFolder()
    const stdin = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.ReadStream
    // As the terminal, it does not end with a question.
    const screen = Object.assign(new PassThrough(), { end: () => undefined }) as unknown as PassThrough
    let [asked, from] = ['', 0]
    screen.on('data', data => (asked += data))
    atEndOfTest(() => stdin.destroy())
    const { world, out } = captured({ cwd, stdin: () => stdin, screen, clock: systemClock })
    const ended = run(line.split(' '), world, commandSet)
    for (const [question, answer] of answers) {
      await expect.poll(() => asked.slice(from), { timeout: 20_000 }).toContain(question)
      from = asked.length
      stdin.push(answer)
    }
    return { code: await ended, out: out(), asked, cwd }
  }

  test('it asks, tries the key at once, and asks again when the service refuses it', async () => {
    const { code, out, asked, cwd } = await answering([
      ['Name', 'site-one\r'],
      ['Address', 'nowhere\r'],
      ['Give an address', `\u0015${sandbox.url}/\r`],
      ['API key', 'wrong-0123456789\r'],
      ['Warehouse', '\r'],
      ['again?', '\r'],
      ['Name', '\r'],
      ['Address', '\r'],
      ['API key', 'sandbox-company-key\r'],
      ['Warehouse', '\r'],
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/^fail {2}key: the service refuses the API key/)
    expect(out).toMatch(/^ok {4}key: company key/m)
    expect(out).not.toMatch(/wrong-0123456789|sandbox-company-key/)
    expect(asked).not.toMatch(/wrong-0123456789|sandbox-company-key/)
    const connection = connectionNamed(loadSettings({ env: {}, cwd }))
    expect(connection).toMatchObject({ name: 'site-one', baseUrl: sandbox.url })
    expect(connection.apiKey.reveal()).toBe('sandbox-company-key')
    expect(readFileSync(join(cwd, 'config/muster.yaml'), 'utf8')).not.toContain('key-0123')
  })

  test('without a key it says which variable to set', async () => {
    const { out, cwd } = await answering([
      ['Name', 'acme\r'],
      ['Address', 'https://api.example.com/v1\r'],
      ['API key', '\r'],
      ['Warehouse', 'postgres://me@db/x\r'],
    ])
    expect(out).toContain('1. set ACME_API_KEY to your key')
    const settings = loadSettings({ env: { ACME_API_KEY: 'k-0123456' }, cwd })
    expect(connectionNamed(settings).warehouse).toMatchObject({ shown: 'postgres://me@db/x' })
  })

  test('a file that is there is refused before anything is asked', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'muster.yaml'), '')
    const { code } = await muster('init --config muster.yaml', {
      cwd,
      stdin: () => ({ isTTY: true }) as NodeJS.ReadStream,
      screen: new PassThrough(),
    })
    expect(code).toBe(2)
  })
})

test.each(['', '# nothing but a comment\n'])('settings of %j are reported as empty', async text => {
  const { cwd } = await muster('init')
  writeFileSync(join(cwd, 'config/muster.yaml'), text)
  const { code, err } = await muster('config', { cwd })
  expect([code, err]).toEqual([78, expect.stringContaining('line 1: the file is empty')])
})
