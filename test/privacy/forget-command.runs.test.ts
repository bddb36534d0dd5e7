/** `muster forget` as people run it: every mart keeps its figures, nobody comes back unasked, and a server's files hold nothing. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { forget } from '../../src/privacy/forget.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName } from '../../src/warehouse/sql-text.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { filesWith } from './server-files.ts'

async function opened<Result>(warehouse: Warehouse, work: (engine: Engine) => Promise<Result>) {
  await warehouse.open()
  return work(warehouse.engine).finally(() => warehouse.close())
}

/** They tell when and how much was read, which each command changes. */
const ofTheReading = new Set(['data_health', 'request_budget', 'crosscheck'])

const isNumber = (type: string): boolean =>
  /int|numeric|decimal|double|real|float/i.test(type) && !/interval/i.test(type)

/** Of every mart: its rows, the values in each column, sums of numbers, and first and last of the rest but texts. */
async function figures(engine: Engine): Promise<Record<string, unknown>> {
  const columns = await engine.describedColumns(['mart'])
  const found: Record<string, unknown> = {}
  for (const mart of new Set(columns.map(({ table }) => table))) {
    if (ofTheReading.has(mart)) continue
    const parts = columns
      .filter(({ table }) => table === mart)
      .flatMap(({ column, type }) => {
        const name = quoteName(column)
        const sum = `cast(round(cast(sum(${name}) as numeric), 2) as varchar) as ${quoteName(`sum of ${column}`)}`
        return [`count(${name}) as ${quoteName(column)}`, ...(isNumber(type) ? [sum] : [])]
      })
    const [row] = await engine.rows(
      `select count(*) as "rows", ${parts.join(', ')} from mart.${quoteName(mart)}`,
    )
    found[mart] = row
  }
  return found
}

interface Person {
  readonly id: string
  readonly name: string
}

/** Workers with the most timesheets, whose names nobody shares. */
const workers = (engine: Engine): Promise<Person[]> =>
  engine.rows<Person>(
    `select w.worker_id as id, w.name from pii.worker w join star.fact_timesheet t using (worker_id)
     where (select count(*) from pii.worker o where o.name = w.name) = 1
     group by 1, 2 order by count(*) desc, 1 limit 3`,
  )

const named = async (engine: Engine, { name }: Person): Promise<number> => {
  const rows = await engine.rows<{ n: number }>(
    `select count(*) as n from pii.worker where name = '${name.replaceAll("'", "''")}'`,
  )
  return Number(rows[0]?.n)
}

describeOnEngines('muster forget, by the command line', bench => {
  test('keeps every figure of every mart, and brings back only who may come back', async () => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const warehouse = await bench.warehouse()
    const { command } = await commandsOn(warehouse, sandbox)
    const good = async (line: string) => {
      const ended = await command(line)
      expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
    }
    await good('sync --quiet')
    await good('build --quiet')
    // The member that stands for nobody: its name is that of no person.
    expect(await command('forget worker -1 --yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no worker has this id'),
    })
    const [gone, returning, unchanged] = (await opened(warehouse, workers)) as [Person, Person, Person]
    const before = await opened(warehouse, figures)
    if (bench.name === 'postgres') {
      // As the server does by itself: its statistics quote values, such as the bounds of a histogram.
      await opened(warehouse, engine => engine.run('analyze'))
      const found = await opened(warehouse, engine =>
        filesWith(engine, [gone.name, returning.name, unchanged.name]),
      )
      expect(found).toEqual(expect.arrayContaining(['worker', 'pg_statistic']))
    }

    // As after a kill: everything is overwritten, and what was there is in free space still.
    await opened(warehouse, engine =>
      forget(
        { engine, clock: systemClock, signal: new AbortController().signal },
        {
          person: { kind: 'worker', id: gone.id },
          landing: warehouse.landing,
          allowsReturn: false,
          acceptLoss: false,
          isDry: false,
        },
      ),
    )
    await good(`forget worker ${gone.id} --yes`)
    if (bench.name === 'postgres')
      expect(await opened(warehouse, engine => filesWith(engine, [gone.name]))).toEqual([])
    await good(`forget worker ${returning.id} --yes --allow-return`)
    await good(`forget worker ${unchanged.id} --yes --allow-return`)
    const persons = [gone, returning, unchanged]
    if (bench.name === 'postgres')
      expect(
        await opened(warehouse, engine =>
          filesWith(
            engine,
            persons.map(({ name }) => name),
          ),
        ),
      ).toEqual([])
    await good('build --quiet')
    expect(await opened(warehouse, figures)).toEqual(before)
    const back = () => opened(warehouse, engine => Promise.all(persons.map(person => named(engine, person))))
    expect(await back()).toEqual([0, 0, 0])

    // Read anew from its pages, and from the service with nothing changed: nobody is back.
    await good('replay --quiet')
    await good('backfill timesheets --from 2026-06-01 --to 2026-11-30 --quiet')
    expect(await back()).toEqual([0, 0, 0])

    const updatedAt = new Date(systemClock.now()).toISOString()
    for (const sheet of sandbox.world.all('timesheets')) {
      const { id } = (sheet.worker ?? {}) as { id?: string }
      if (id === gone.id || id === returning.id) sandbox.world.upsert('timesheets', { ...sheet, updatedAt })
    }
    await good('sync --quiet')
    expect(await back()).toEqual([0, 1, 0])
    await good('build --quiet')
    expect(Object.keys(await opened(warehouse, figures))).toEqual(Object.keys(before))
  }, 600_000)
})
