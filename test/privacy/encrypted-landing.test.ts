/** A warehouse whose landed pages are encrypted: every command works on them with the key, and says so in one line without it. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOn } from '../cli/commands-on.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { ofTheRun, tables } from '../warehouse/dump.ts'
import { describeOnEngines, type Warehouse } from '../warehouse/fixture.ts'

const some = 'users timesheets requisitions assignments companies access-rules'

/** Whether a file of the landing, or a temporary one beside it, has the text. */
function has({ landing }: Warehouse, text: string): boolean {
  const home = dirname(landing)
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !/duckdb/.test(entry.name))
    .some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))
}

async function opened<Result>(warehouse: Warehouse, work: () => Promise<Result>): Promise<Result> {
  await warehouse.open()
  return work().finally(() => warehouse.close())
}

const rowsOf = (warehouse: Warehouse) =>
  opened(warehouse, () =>
    tables(warehouse.engine, undefined, new Set([...ofTheRun, 'valid_from', 'valid_to'])),
  )

interface Person {
  readonly id: string
  readonly name: string
}

const someone = (warehouse: Warehouse): Promise<Person> =>
  opened(warehouse, async () => {
    const [one] = await warehouse.engine.rows<{ id: string; name: string }>(
      `select w.worker_id as id, w.name from pii.worker w join star.fact_timesheet t using (worker_id)
       group by 1, 2 order by count(*) desc, 1 limit 1`,
    )
    return one!
  })

describeOnEngines('encrypted landed pages', bench => {
  test('are read by every command with the key, and by none without it', async () => {
    const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })
    const warehouse = await bench.warehouse()
    const { command, cwd } = await commandsOn(warehouse, sandbox)
    const [former, key] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')]
    const good = async (line: string, env: Record<string, string>) => {
      const ended = await command(line, env)
      expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
      return ended.out
    }

    // One night in clear, one with a key, one with the next key: the first two become archives.
    await good(`sync ${some} --quiet`, {})
    const person = await someone(warehouse)
    expect(has(warehouse, person.name)).toBe(true)
    await good(`sync ${some} --quiet`, { MUSTER_LANDING_KEY: former })
    writeFileSync(join(cwd, 'keys'), `${key}\n${former}\n`, { mode: 0o600 })
    const env = { MUSTER_LANDING_KEY_FILE: 'keys' }
    await good(`sync ${some} --quiet`, env)
    await good('retention --quiet', env)
    const only = { MUSTER_LANDING_KEY: key }
    await good(`sync ${some} --quiet`, only)
    expect(has(warehouse, person.name)).toBe(false)

    const before = await rowsOf(warehouse)
    await good('replay --quiet', only)
    expect(await rowsOf(warehouse)).toEqual(before)
    await good('check landed_pages_readable', only)
    expect(await good('doctor', only)).toMatch(/landed pages: with the key [0-9a-f]{16}/)
    expect(await good('status', only)).toMatch(
      /^kept: landed pages 90 days \(encrypted with the key [0-9a-f]{16}\)/m,
    )
    await good(`forget worker ${person.id} --yes`, only)
    await good('replay --quiet', only)
    expect(JSON.stringify(await rowsOf(warehouse)).includes(person.name)).toBe(false)

    const wrong = { MUSTER_LANDING_KEY: randomBytes(32).toString('hex') }
    const forgetting = `forget worker ${person.id} --yes`
    for (const [line, what, other] of [
      ['sync --quiet', 'there is no landingKey', {}],
      ['sync --quiet', 'landingKey is another one', wrong],
      ['replay --quiet', 'there is no landingKey', {}],
      ['check', 'landingKey is another one', wrong],
      ['retention', 'there is no landingKey', {}],
      [forgetting, 'landingKey is another one', wrong],
      ['sweep --quiet', 'there is no landingKey', {}],
    ] as const) {
      const { code, err } = await command(line, other)
      expect([line, code, err.trim().split('\n')]).toEqual([line, 78, [expect.stringContaining(what)]])
    }
    expect((await command('doctor', wrong)).code).toBe(78)
    const malformed = await command('status', { MUSTER_LANDING_KEY: 'too short' })
    expect([malformed.code, malformed.out]).toEqual([0, expect.stringContaining('encrypted with the key')])
    const { code, err } = await command('sync', { MUSTER_LANDING_KEY: 'too short' })
    expect([code, err]).toEqual([78, expect.stringContaining('MUSTER_LANDING_KEY')])
    expect(err).not.toContain('too short')
  }, 240_000)
})
