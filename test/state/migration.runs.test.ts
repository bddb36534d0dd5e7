/** A warehouse of an earlier structure is migrated with its rows; one of a later program is refused. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { migrate } from '../../src/state/migrate.ts'
import { type Migration, recordedSchema, schemaVersion } from '../../src/state/migrations.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const now = '2026-11-22T12:00:00.000Z'

/** As the next version would declare it: a column moves to a table that is declared, and its old place goes. */
const next: Migration = {
  statements: [
    `insert into ops.change_signal (resource, signal, kind, signalled, unchanged, unchanged_expected, quiet_changes, quiet_expected, updated_at)
     select 'rates', signal, '', signalled, 0, 0, 0, 0, timestamptz '${now}' from star.old_signal`,
    'drop table star.old_signal',
  ],
}

const moved = (engine: Engine): Promise<object[]> =>
  engine.rows('select resource, signal, signalled from ops.change_signal')

describeOnEngines(
  'a warehouse',
  bench => {
    test('of the version before is migrated once, with its rows', async () => {
      const { engine } = await bench.warehouse()
      await engine.run(`create table star.old_signal as select 'event' as signal, 4 as signalled`)
      expect(await migrate(engine, now, { migrations: [next] })).toBe(true)
      expect(await moved(engine)).toEqual([{ resource: 'rates', signal: 'event', signalled: 4 }])
      expect(await recordedSchema(engine)).toBe(schemaVersion + 1)
      expect(await migrate(engine, now, { migrations: [next] })).toBe(false)
      expect(await moved(engine)).toHaveLength(1)
    })

    test('of two versions before is migrated through both, in their order', async () => {
      const { engine } = await bench.warehouse()
      const first: Migration = {
        statements: [`create table star.old_signal as select 'file' as signal, 1 as signalled`],
      }
      await migrate(engine, now, { migrations: [first, next] })
      expect(await moved(engine)).toEqual([{ resource: 'rates', signal: 'file', signalled: 1 }])
    })

    test('keeps its rows and its number when a migration fails', async () => {
      const { engine } = await bench.warehouse()
      await engine.run(`create table star.old_signal as select 'event' as signal, 4 as signalled`)
      const failing: Migration = { statements: [...next.statements, 'select no_such_function()'] }
      await expect(migrate(engine, now, { migrations: [failing] })).rejects.toThrow()
      expect(await moved(engine)).toEqual([])
      expect(await engine.rows('select signal from star.old_signal')).toEqual([{ signal: 'event' }])
      expect(await recordedSchema(engine)).toBe(schemaVersion)
    })
  },
  'all',
)

const readingCommands = ['status', 'runs', 'metric timeToFill', 'status --all']
const writingCommands = ['build', 'check', 'upgrade', 'retention', 'audit-pii']

describeOnEngines('the command line', bench => {
  /** Leaves the warehouse with this number and program; its engine is closed. */
  async function recorded(schema: number, program: string): Promise<string> {
    const warehouse = await bench.warehouse()
    await warehouse.engine.run('delete from ops.migration')
    await warehouse.engine.run(
      `insert into ops.migration values ('structure', 'another', timestamptz '${now}'), ('program', '${program}', timestamptz '${now}'),
         ('schema', '${schema}', timestamptz '${now}')`,
    )
    await warehouse.close()
    return warehouse.address
  }

  const at = (address: string) => (line: string) =>
    muster(line, {
      env: {
        MUSTER_BASE_URL: 'http://127.0.0.1:9/api',
        MUSTER_API_KEY: 'nobody-asks',
        MUSTER_WAREHOUSE: address,
      },
      cwd: temporaryFolder(),
      clock: systemClock,
    })

  test('refuses a warehouse of a later program in one line, and leaves it as it is', async () => {
    const address = await recorded(schemaVersion + 1, '99.1.0')
    const file = /^duckdb:(.*)$/.exec(address)?.[1]
    const bytes = file && readFileSync(file)
    for (const line of [...readingCommands, ...writingCommands, ...(file ? ['publish'] : [])]) {
      const { code, out, err } = await at(address)(line)
      expect(`${code} ${out} ${err}`, line).toMatch(/made by muster 99\.1\.0, which is later than this one/)
      expect(err.split('\n').filter(Boolean).length, `${line}: ${err}`).toBeLessThan(2)
      expect(code, line).toBe(1)
    }
    if (bytes) expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('migrates an earlier file with whatever writes it', async () => {
    const address = await recorded(schemaVersion - 1, '0.0.9')
    if (!address.startsWith('duckdb:')) return
    const run = at(address)
    expect(await run('audit-pii')).toMatchObject({ code: 0 })
    expect(await run('upgrade')).toMatchObject({ code: 0, out: expect.stringContaining('is up to date') })
  })

  test('says of an earlier warehouse that muster upgrade is needed, which then brings it up to date', async () => {
    const run = at(await recorded(schemaVersion - 1, '0.0.9'))
    const refused = { code: 1, err: expect.stringMatching(/^muster: .*run muster upgrade.*\n$/) }
    for (const line of readingCommands.slice(0, 3)) expect(await run(line), line).toMatchObject(refused)
    expect(await run('upgrade')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`upgraded from schema ${schemaVersion - 1} to ${schemaVersion}`),
    })
    expect(await run('upgrade')).toMatchObject({ code: 0, out: expect.stringContaining('is up to date') })
    expect(await run('status')).toMatchObject({ code: 0 })
  })
})
