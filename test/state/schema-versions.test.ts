/** A warehouse of every schema version opens, is upgraded as a whole, and keeps its rows; a later one is refused. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { schemaVersion } from '../../src/state/upgrades.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { muster, temporaryFolder } from '../cli/captured-world.ts'
import { earlierWarehouse, engines, on, schemaVersions, structure } from '../fixtures/earlier-warehouse.ts'
import { useEngines } from '../warehouse/fixture.ts'

const cases = schemaVersions.flatMap(version => engines.map(engine => [version, engine] as const))

/** Rows by table, of tables that records fill and no seed does. */
async function counts(engine: Engine): Promise<Record<string, number>> {
  const tables = await engine.rows<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_catalog = current_database() and table_type = 'BASE TABLE'
     and (table_schema in ('pii', 'history') or table_schema = 'star' and table_name like 'fact%') order by 1`,
  )
  const found: Record<string, number> = {}
  for (const { name } of tables)
    found[name] = (await engine.rows<{ n: number }>(`select count(*)::integer as n from ${name}`))[0]?.n ?? -1
  return found
}

const watermarks = (engine: Engine, column: string): Promise<object[]> =>
  engine.rows(`select resource, ${column} as watermark from ops.watermark order by 1`)

const noService = { MUSTER_BASE_URL: 'http://127.0.0.1:9/api', MUSTER_API_KEY: 'nobody-asks' }

/** A command line on the warehouse; no service is asked. */
const at = (address: string) => (line: string) =>
  muster(line, {
    env: { ...noService, MUSTER_WAREHOUSE: address },
    cwd: temporaryFolder(),
    clock: systemClock,
  })

const made = useEngines()

describe.each(cases)('schema %i on %s', (version, kind) => {
  test('is upgraded with all that it holds', async () => {
    const address = await earlierWarehouse(version, kind, temporaryFolder())
    const run = at(address)
    const before = await on(address, counts)
    const read = await on(address, engine => watermarks(engine, version === 1 ? 'mark' : 'watermark'))
    expect(Object.values(before).reduce((sum, one) => sum + one)).toBeGreaterThan(500)
    expect(read.length).toBeGreaterThan(5)

    const early = await run('status')
    if (version < schemaVersion)
      expect(early).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^muster: .*run muster upgrade.*\n$/),
      })
    const upgrade = await run('upgrade')
    expect(upgrade, upgrade.err).toMatchObject({ code: 0 })
    expect(await on(address, counts)).toMatchObject(before)
    expect(await on(address, engine => watermarks(engine, 'watermark'))).toEqual(read)
    expect(await on(address, structure)).toEqual(await structure((await made[kind]()).engine))
    expect((await run('status')).code).toBe(0)
    const again = await run('upgrade')
    expect(again.out).toMatch(new RegExp(`is up to date with muster .*, schema ${schemaVersion}\n$`))
    // The marts of an earlier program are in its columns: a build makes them anew.
    const build = await run('build')
    expect(build, build.err).toMatchObject({ code: 0 })
    if (kind === 'duckdb') expect(leftBeside(address)).toEqual(['earlier.duckdb', 'earlier.overview.json'])
  })
})

const fileOf = (address: string): string => address.replace('duckdb:', '')

const leftBeside = (address: string): string[] =>
  readdirSync(dirname(fileOf(address)))
    .filter(name => !name.startsWith('.') && name.startsWith(basename(fileOf(address), '.duckdb')))
    .sort()

describe.each(engines)('a later warehouse on %s', kind => {
  test('is refused in one line by whatever reads or writes it, and stays as it is', async () => {
    const address = await earlierWarehouse(schemaVersion, kind, temporaryFolder())
    await on(address, async engine => {
      await engine.run(`delete from ops.migration`)
      await engine.run(
        `insert into ops.migration values ('structure', 'of later', now()), ('program', '99.1.0', now()),
           ('schema', '${schemaVersion + 1}', now())`,
      )
    })
    const bytes = kind === 'duckdb' && readFileSync(fileOf(address))
    const writing = kind === 'duckdb' ? ['publish'] : []
    for (const line of [
      ...writing,
      'status',
      'runs',
      'build',
      'check',
      'upgrade',
      'retention',
      'metric timeToFill',
      'status --all',
    ]) {
      const { code, out, err } = await at(address)(line)
      expect(`${code} ${out} ${err}`, line).toMatch(/made by muster 99\.1\.0, which is later than this one/)
      expect(err.split('\n').filter(Boolean).length, `${line}: ${err}`).toBeLessThan(2)
      expect(code, line).toBe(1)
    }
    if (bytes) expect(readFileSync(fileOf(address)).equals(bytes)).toBe(true)
    const recorded = await on(address, engine =>
      engine.rows('select count(*)::integer as n from ops.migration'),
    )
    expect(recorded).toEqual([{ n: 3 }])
  })
})
