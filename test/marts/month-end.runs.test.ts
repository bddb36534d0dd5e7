/** Marts that builds keep or make again hold what building them now would: cell by cell, whatever happened between builds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutOfMemory, StatementInterrupted } from '../../src/lib/errors.ts'
import { isSliced } from '../../src/marts/inputs.ts'
import { type Mart, readMarts } from '../../src/marts/mart.ts'
import type { MartGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, useEngines } from '../support/warehouse-fixture.ts'
import { wrappedEngine } from '../support/wrapped-engine.ts'
import { build, marts, rowsOf, slicedRows, wholeRows } from './complete-rows.ts'
import { aSheet, type Happening, happening, LivingStar, type SheetValues } from './living-star.ts'

async function requireWhole(engine: Engine, of: readonly Mart[], now: number): Promise<void> {
  for (const mart of of)
    expect({ [mart.name]: await rowsOf(engine, mart) }).toEqual({
      [mart.name]: await wholeRows(engine, mart, now),
    })
}

/** Throws where a mart differs; counts the marts that were kept. */
async function live(engine: Engine, happenings: readonly Happening[], of = marts): Promise<number> {
  const star = new LivingStar()
  let kept = 0
  try {
    for (const one of [...happenings, { kind: 'build' } as const]) {
      await star.happen(engine, one)
      if (one.kind !== 'build') continue
      const result = await build(engine, star.now, { marts: of })
      expect(result.marts.filter(({ state }) => !['built', 'unchanged'].includes(state))).toEqual([])
      kept += result.marts.filter(({ state }) => state === 'unchanged').length
      await requireWhole(engine, of, star.now)
      for (const mart of of.filter(isSliced))
        expect({ [mart.name]: await slicedRows(engine, mart, star.now) }).toEqual({
          [mart.name]: await rowsOf(engine, mart),
        })
    }
    return kept
  } finally {
    star.close()
  }
}

async function withStar<Result>(work: (star: LivingStar) => Promise<Result>): Promise<Result> {
  const star = new LivingStar()
  try {
    return await work(star)
  } finally {
    star.close()
  }
}

const sheets = (...values: Partial<SheetValues>[]): Happening => ({
  kind: 'sheets',
  sheets: values.map(one => ({ ...aSheet, ...one })),
})
const aBuild = { kind: 'build' } as const
const [worker] = readMarts().filter(({ name }) => name === 'worker_week') as [Mart]
const ofWorkers = { marts: [worker] }

describeOnEngines('marts', bench => {
  test('hold what a build of all of them would', async () => {
    let kept = 0
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 14 }), async happenings => {
        kept += await live((await bench.warehouse()).engine, happenings)
      }),
      { numRuns: thorough ? 25 : 5, endOnFailure: !thorough },
    )
    expect(kept).toBeGreaterThan(0)
  }, 600_000)

  test('follow an event between two builds, though no run changed a row', async () => {
    const { engine } = await bench.warehouse()
    const first = sheets({ id: 1, status: 'pending_approval' }, { id: 2 })
    const event: Happening = { kind: 'event', id: 1, hours: 5 }
    expect(await live(engine, [first, aBuild, event, aBuild])).toBeGreaterThan(0)
  })

  test('are built again for what they read alone', async () => {
    const { engine } = await bench.warehouse()
    await withStar(async star => {
      const states = async (what: Happening) => {
        await star.happen(engine, what)
        const result = await build(engine, star.now)
        return Object.fromEntries(result.marts.map(({ name, state }) => [name, state]))
      }
      await states(sheets({ id: 1 }))
      const expense = {
        id: 1,
        sheet: 1,
        company: 0,
        project: 0,
        day: 3,
        value: 5,
        status: 'approved',
      } as const
      expect(await states({ kind: 'expenses', expenses: [expense] })).toMatchObject({
        expense_summary: 'built',
        cost_code_spend: 'built',
        timesheet_cycle: 'unchanged',
        labour_spend_weekly: 'unchanged',
      })
      expect(await states({ kind: 'event', id: 1, hours: 5 })).toMatchObject({
        timesheet_cycle: 'built',
        worker_week: 'unchanged',
      })
      expect(await states({ kind: 'delete', ids: [1] })).toMatchObject({
        worker_week: 'built',
        dim_agency: 'unchanged',
      })
    })
  })

  test('keep their rows when a check fails or the build is stopped, and the next build is right', async () => {
    const { engine } = await bench.warehouse()
    await withStar(async star => {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }))
      await build(engine, star.now, ofWorkers)
      const before = await rowsOf(engine, worker)
      await star.happen(engine, sheets({ id: 1, worker: 2 }))
      const refuses: MartGate = async () => [{ check: 'planted', severity: 'error', rows: 1 }]
      const refused = await build(engine, star.now, { ...ofWorkers, gate: refuses })
      expect(refused.marts).toMatchObject([{ state: 'refused' }])
      expect(await rowsOf(engine, worker)).toEqual(before)
      await build(engine, star.now, ofWorkers)
      await requireWhole(engine, [worker], star.now)

      const built = await rowsOf(engine, worker)
      await star.happen(engine, sheets({ id: 1, worker: 0 }))
      const stops: MartGate = async () => {
        throw new StatementInterrupted({ what: 'told to stop' })
      }
      await expect(build(engine, star.now, { ...ofWorkers, gate: stops })).rejects.toThrow(
        StatementInterrupted,
      )
      expect(await rowsOf(engine, worker)).toEqual(built)
      expect((await build(engine, star.now, ofWorkers)).marts).toMatchObject([{ state: 'built' }])
      await requireWhole(engine, [worker], star.now)
    })
  })

  test('are made in slices when one statement runs out of memory, and slices that do as well leave the rows', async () => {
    const { engine } = await bench.warehouse()
    let left = 0
    let fills = 0
    const narrow = wrappedEngine(engine, inner => ({
      async run(sql, values) {
        if (!sql.includes('insert into mart."worker_week"')) return inner.run(sql, values)
        fills += 1
        left -= 1
        if (left >= 0) throw new OutOfMemory({ what: 'the rows do not fit' })
        return inner.run(sql, values)
      },
    }))
    await withStar(async star => {
      const buildWith = async (failures: number) => {
        left = failures
        fills = 0
        const { marts: built } = await build(narrow, star.now, ofWorkers)
        return [built[0]?.state, fills]
      }
      await star.happen(engine, sheets(...Array.from({ length: 20 }, (_, id) => ({ id, worker: id }))))
      expect(await buildWith(1)).toEqual(['built', 9])
      const before = await rowsOf(engine, worker)
      await requireWhole(engine, [worker], star.now)
      await star.happen(engine, sheets({ id: 1, worker: 2 }))
      expect(await buildWith(2)).toEqual(['failed', 2])
      expect(await rowsOf(engine, worker)).toEqual(before)
      expect(await buildWith(1)).toEqual(['built', 9])
      await requireWhole(engine, [worker], star.now)
    })
  })

  test('are built again for rows that were committed while their build had begun', async () => {
    const { engine } = await bench.warehouse()
    await withStar(async star => {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }))
      // Between the look at the sources and the transaction of the mart.
      const overtaken = {
        ...engine,
        freeMemory: async () => star.happen(engine, sheets({ id: 2, worker: 3 })),
      }
      await build(overtaken, star.now, ofWorkers)
      await requireWhole(engine, [worker], star.now)
      expect((await build(engine, star.now, ofWorkers)).marts).toMatchObject([{ state: 'built' }])
      expect((await build(engine, star.now, ofWorkers)).marts).toMatchObject([{ state: 'unchanged' }])
    })
  })
})

const made = useEngines()

test('rows that another process commits behind a mart that is filled are in the next build', async () => {
  const warehouse = await made.postgres()
  const { engine } = warehouse
  const other = await openPostgres(
    { url: warehouse.address, shown: 'the same database' },
    { scratch: `${warehouse.landing}.other` },
  )
  try {
    await withStar(async star => {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }))
      const gate: MartGate = async () => {
        await star.happen(other, sheets({ id: 2, worker: 3 }))
        return []
      }
      await build(engine, star.now, { ...ofWorkers, gate })
      expect(await rowsOf(engine, worker)).not.toEqual(await wholeRows(engine, worker, star.now))
      expect((await build(engine, star.now, ofWorkers)).marts).toMatchObject([{ state: 'built' }])
      await requireWhole(engine, [worker], star.now)
    })
  } finally {
    await other.close()
  }
})
