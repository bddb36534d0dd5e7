/** SIGTERM ends what runs for long: a server with a queue, an assistant's session, rebuilding on a server, and waiting. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { eventBody, post, SECRET, served, signed } from '../serve/served.ts'
import { type Built, start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { ofTheRun, tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce, useEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { holdFile } from './locked-file.ts'

const environment = (warehouse: Warehouse, url: string) => ({
  MUSTER_BASE_URL: url,
  MUSTER_API_KEY: sandboxKeys.company,
  MUSTER_WAREHOUSE: warehouse.address,
  MUSTER_LANDING: warehouse.landing,
  MUSTER_WEBHOOK_SECRET: SECRET,
})

/** Milliseconds of the longest end allowed. */
const soon = 5_000

async function stopped(built: Built, codes: readonly (number | null)[] = [75]): Promise<string> {
  built.signal('SIGTERM')
  const { code, err, milliseconds } = await built.ended
  expect([codes.includes(code), code, err]).toEqual([
    true,
    code,
    expect.not.stringMatching(/unexpected|^ +at /m),
  ])
  expect(milliseconds).toBeLessThan(soon)
  return err
}

const events = 600

describeOnEngines('a server with hundreds of queued events', bench => {
  test.each([300, 1_500, 4_000])('ends soon after SIGTERM at %i ms, and loses none', async after => {
    // So few requests a minute that the queue lasts for an hour.
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerMinute: 10 })
    const warehouse = await bench.warehouse()
    await syncOnce(sandbox, warehouse, { request: { resources: ['sites'] } })
    const env = environment(warehouse, sandbox.url)
    await warehouse.close()
    const serve = start('serve --port 0 --no-schedule --json --every 1s', { cwd: temporaryFolder(), env })
    await expect.poll(() => serve.out(), { timeout: 60_000 }).toContain('\n}\n')
    const { url } = JSON.parse(serve.out()) as { url: string }
    const names = Array.from({ length: events }, (_, index) => index)
    const answers = await Promise.all(
      names.map(index =>
        post(
          url,
          signed(eventBody(`evt_${index}`, 'timesheet_approved', { timesheet: { id: `t${index}` } })),
        ),
      ),
    )
    expect(new Set(answers)).toEqual(new Set([202]))
    await wait(after)
    await stopped(serve, [0, 75])
    await warehouse.open()
    await (await served(warehouse)).stop()
    const [row] = await warehouse.engine.rows<{ n: unknown }>('select count(*) as n from ops.inbox')
    expect(Number(row?.n)).toBe(events)
  })
})

const said = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

describeOnEngines('an assistant that asks', bench => {
  test.each(['', ' --wait 10m'])(
    'hears at once%s, and SIGTERM ends it idle and within a query',
    async more => {
      const sandbox = await openSandbox({ scale: 0.01 })
      const warehouse = await bench.warehouse()
      await syncOnce(sandbox, warehouse, { request: { resources: ['sites'] } })
      const env = environment(warehouse, sandbox.url)
      await warehouse.close()
      const cwd = temporaryFolder()
      if (bench.name === 'duckdb') expect((await start('publish', { cwd, env }).ended).code).toBe(0)
      for (const isBusy of [false, true]) {
        const mcp = start(`mcp${more}`, { cwd, env, hasInput: true })
        const clientInfo = { name: 'test', version: '1' }
        mcp.say(said(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }))
        // On a server the owner of the tables may see personal data, and gets no session.
        const isRefused = bench.name === 'postgres'
        if (isRefused) {
          expect((await mcp.ended).code).not.toBe(0)
          continue
        }
        await expect.poll(() => mcp.out(), { timeout: 30_000 }).toContain('serverInfo')
        if (isBusy) {
          mcp.say(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
          const sql =
            'select count(*) from range(1000000) a, range(1000000) b where hash(a.range, b.range) > 0'
          mcp.say(said(2, 'tools/call', { name: 'query', arguments: { sql } }))
          await wait(2_000)
        }
        await stopped(mcp, [0, 75])
      }
    },
  )
})

const made = useEngines()
const everyRow = (warehouse: Warehouse) =>
  tables(warehouse.engine, undefined, new Set([...ofTheRun, 'valid_from', 'valid_to']))

test.each(['replay', 'build --all', 'copy', 'check', 'retention', 'sweep sites', 'crosscheck'])(
  '%s on a server ends within five seconds of SIGTERM, whenever it comes, and leaves every row as it was',
  async line => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const warehouse = await made.postgres()
    await syncOnce(sandbox, warehouse, {
      request: { resources: ['sites', 'timesheets', 'users', 'companies'] },
    })
    const before = await everyRow(warehouse)
    const env = environment(warehouse, sandbox.url)
    for (const after of [700, 1_400, 2_500, 4_000]) {
      const cwd = temporaryFolder()
      const words =
        line === 'copy' ? `copy --from ${warehouse.address} --to duckdb:${join(cwd, 'copy.duckdb')}` : line
      const built = start(words, { cwd, env })
      await Promise.race([wait(after), built.ended])
      // On a fast machine it may have ended by itself; before the first line has run, the system ends it.
      await stopped(built, [75, 0, 3, null])
    }
    expect(await everyRow(warehouse)).toEqual(before)
    const again = line === 'copy' ? 'status' : line
    const { code, err } = await start(again, { cwd: temporaryFolder(), env }).ended
    expect([[0, 3].includes(code ?? 1), err]).toEqual([true, expect.not.stringContaining('unexpected')])
  },
)

test.each(['sync --wait 10m', 'dag run one --wait 10m', 'build --wait 10m', 'status --wait 10m'])(
  '%s hears SIGTERM while it waits for a file that another process holds',
  async line => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dags'))
    const dag = "name: one\ndescription: A sync.\nschedule: '0 2 * * *'\ntasks: { sync: { run: sync } }\n"
    writeFileSync(join(cwd, 'dags/one.yaml'), dag)
    const sandbox = await openSandbox({ scale: 0.01 })
    const env = {
      MUSTER_BASE_URL: sandbox.url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    }
    await holdFile(join(cwd, 'w.duckdb'))
    const built = start(line, { cwd, env })
    await expect.poll(() => built.err(), { timeout: 30_000 }).toContain('waiting up to 10 min')
    await wait(1_500)
    await stopped(built)
  },
)
