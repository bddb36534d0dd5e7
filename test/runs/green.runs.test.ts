/** The nights and the week that ship with the program end with 0 on a fresh sandbox, with the rights that the docs give. */
import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { drawnOptions } from '../crosscheck/settings.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { database, onServer } from '../support/postgres-database.ts'

const prefix = `green${process.pid}_`
const roles = ['owner', 'loader', 'reader', 'bi', 'privacy'].map(name => prefix + name)
const ends: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

type Command = (line: string, warehouse?: string) => ReturnType<typeof muster>

/** Gives the address that the night is run with. */
type Prepare = (command: Command) => Promise<string>

const prepare: Readonly<Record<'DuckDB' | 'PostgreSQL as the loader', Prepare>> = {
  DuckDB: async () => 'duckdb:w.duckdb',
  'PostgreSQL as the loader': async command => {
    const made = await database()
    ends.unshift(made.drop)
    const as = (role: string): string => {
      const url = new URL(made.url)
      url.username = prefix + role
      url.password = 'for this test'
      return url.href
    }
    expect(await command(`roles --prefix ${prefix}`, made.url)).toMatchObject({ code: 0 })
    for (const role of roles) await onServer(`alter role ${role} password 'for this test'`)
    expect(await command('sync key --quiet', as('owner'))).toMatchObject({ code: 0 })
    return as('loader')
  },
}

ends.push(async () => {
  for (const role of roles) await onServer(`drop role if exists ${role}`)
})

const options = [undefined, 1, ...(thorough ? [2, 3, 4, 5, 6] : [])]

describe.each(Object.entries(prepare))('on %s', (_, preparation) => {
  test.each(options)(
    'nightly and weekly are green with options drawn by %s',
    { timeout: 600_000 },
    async seed => {
      const sandbox = await keptSandbox({
        scale: 0.04,
        rateLimitPerMinute: 100_000,
        ...(seed !== undefined && { options: drawnOptions(seed) }),
      })
      const place = { cwd: temporaryFolder(), clock: systemClock, rng: seededRng(1) }
      const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
      const command: Command = (line, warehouse = '') =>
        muster(line, { ...place, env: { ...env, MUSTER_WAREHOUSE: warehouse } })
      const address = await preparation(command)
      for (const dag of ['nightly', 'weekly']) {
        const { code, out, err } = await command(`dag run ${dag} --json --quiet`, address)
        const { tasks } = JSON.parse(out) as { tasks: { task: string; state: string }[] }
        expect({
          dag,
          code,
          not: tasks.filter(({ state }) => state !== 'done'),
          err: code ? err : '',
        }).toEqual({ dag, code: 0, not: [], err: '' })
      }
    },
  )
})
