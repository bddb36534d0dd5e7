/** Where each setting comes from: a line, a variable or the default; secrets are never part of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { muster } from '../support/captured-world.ts'
import { acme, DUCKDB, folder, KEY } from './written-settings.ts'

const secret = 'key-0123456789'

async function shown(lines: string[], env: Record<string, string> = { KEY: secret }, more = '') {
  const cwd = folder()
  writeFileSync(join(cwd, 'config/muster.yaml'), acme(...lines))
  const { code, out, err } = await muster(`config --json${more}`, { cwd, env })
  const { settings, problem } = JSON.parse(out)
  const of = (name: string) => settings.find((one: { name: string }) => one.name === name)
  return { code, out, err, of, problem }
}

test('shows each value with its line, its variables, or as a default', async () => {
  const { code, of, out } = await shown(
    [KEY, DUCKDB, `retentionDays: \${DAYS}`, 'queries: { seconds: 5 }', `webhook: { secret: \${HOOK} }`],
    { KEY: secret, DAYS: '30', HOOK: 'hook-0123456789' },
  )
  expect(code).toBe(0)
  expect(of('apiKey')).toMatchObject({ value: '[secret]', from: 'config/muster.yaml:4, KEY' })
  expect(of('warehouse')).toMatchObject({ value: 'duckdb:data/acme.duckdb', from: 'config/muster.yaml:5' })
  expect(of('retentionDays')).toMatchObject({ value: '30', from: 'config/muster.yaml:6, DAYS' })
  expect(of('queries.seconds')).toMatchObject({ value: 5, from: 'config/muster.yaml:7' })
  expect(of('webhook.secret')).toMatchObject({ value: '[secret]', from: 'config/muster.yaml:8, HOOK' })
  expect(of('webhook.headerPrefix')).toMatchObject({ value: 'X-Service', from: 'default' })
  expect(of('queries.threads')).toMatchObject({ value: 2, from: 'default' })
  expect(of('landing').value).toMatch(/data\/acme\.landing$/)
  expect(of('waitMinutes')).toMatchObject({ from: 'not set' })
  expect(out).not.toMatch(/key-0123456789|hook-0123456789/)
})

test('a password in an address and a key in the file itself are not shown', async () => {
  const { code, of, out, problem } = await shown(
    [`apiKey: ${secret}`, `warehouse: postgres://me:\${PASSWORD}@db:5432/x?password=other-secret`],
    { PASSWORD: 'pass-0123456789' },
  )
  expect([code, problem]).toEqual([78, expect.stringContaining('holds the secret itself')])
  expect(of('warehouse').value).toBe('postgres://me@db:5432/x')
  expect(out).not.toMatch(/key-0123456789|pass-0123456789|other-secret/)
})

test('settings that are wrong are shown as far as they go', async () => {
  const { code, of, problem } = await shown([KEY, DUCKDB, 'retentionDays: soon', 'colour: red'], {})
  expect(code).toBe(78)
  expect(of('apiKey')).toMatchObject({ from: 'config/muster.yaml:4, KEY, which is not set' })
  expect(of('retentionDays')).toMatchObject({ value: 'soon', from: 'config/muster.yaml:6' })
  expect(problem).toMatch(/^config\/muster\.yaml is wrong \(3 problems\)/)
})

test('shows the variables where there is no file, and nothing where there are neither', async () => {
  const env = { MUSTER_BASE_URL: 'https://api.example.com', MUSTER_API_KEY: secret, MUSTER_RECORD_DEPTH: '9' }
  const { out } = await muster('config --json', { env })
  const named = Object.fromEntries(
    JSON.parse(out).settings.map((one: { name: string; from: string }) => [one.name, one.from]),
  )
  expect(named).toMatchObject({
    baseUrl: 'environment, MUSTER_BASE_URL',
    apiKey: 'environment, MUSTER_API_KEY',
    recordDepth: 'environment, MUSTER_RECORD_DEPTH',
    warehouse: 'default',
    recordFields: 'default',
  })
  expect(out).not.toContain(secret)
  expect((await muster('config')).code).toBe(78)
})

test('one connection of several can be chosen', async () => {
  const { code, err } = await muster('config --connection acmee', {
    env: { MUSTER_BASE_URL: 'https://api.example.com', MUSTER_API_KEY: secret },
  })
  expect([code, err]).toEqual([2, 'muster: no connection is named acmee: name one of default\n'])
})
