/** Marts that are made anew in part hold what a whole rebuild would: cell by cell, whatever happened between builds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Interrupted, OutOfMemory } from '../../src/lib/errors.ts'
import type { BuildEffects } from '../../src/marts/build.ts'
import { type Mart, readMarts } from '../../src/marts/mart.ts'
import type { Gate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { wrappedEngine } from '../warehouse/wrapped-engine.ts'
import { aSheet, type Happening, happening, LivingStar, type SheetValues } from './living-star.ts'
import { build, marts, rowsOf, slicedRows, wholeRows } from './part-or-whole.ts'

/** Throws where a mart differs; counts the marts that were made in part. */
async function live(engine: Engine, happenings: readonly Happening[], of: readonly Mart[]): Promise<number> {
  const star = new LivingStar()
  let inPart = 0
  try {
    for (const one of [...happenings, { kind: 'build' } as const]) {
      await star.happen(engine, one)
      if (one.kind !== 'build') continue
      const result = await build(engine, star.now, { marts: of })
      expect(result.marts.filter(({ state }) => !['built', 'unchanged'].includes(state))).toEqual([])
      inPart += result.marts.filter(({ made }) => made !== undefined).length
      for (const mart of of) {
        const rows = await rowsOf(engine, mart)
        expect({ [mart.name]: rows }).toEqual({ [mart.name]: await wholeRows(engine, mart, star.now) })
        if (mart.parts)
          expect({ [mart.name]: await slicedRows(engine, mart, star.now) }).toEqual({ [mart.name]: rows })
      }
    }
    return inPart
  } finally {
    star.close()
  }
}

test('a mart says with as many columns what is touched as a part has', () => {
  const inParts = readMarts().filter(({ parts }) => parts)
  expect(inParts.length).toBeGreaterThan(3)
  for (const { name, parts, select } of inParts) {
    const counts = [...select.matchAll(/:touched\(([^()]*)\)/g)].map(
      ([, columns]) => columns?.split(',').length,
    )
    expect([name, new Set(counts)]).toEqual([name, new Set([parts?.columns.length])])
  }
})

describeOnEngines('marts made in part', bench => {
  test('hold what whole ones would', async () => {
    let inPart = 0
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 14 }), async happenings => {
        inPart += await live((await bench.warehouse()).engine, happenings, marts)
      }),
      { numRuns: thorough ? 25 : 5, endOnFailure: !thorough },
    )
    expect(inPart).toBeGreaterThan(0)
  }, 600_000)

  const sheets = (...values: Partial<SheetValues>[]): Happening => ({
    kind: 'sheets',
    sheets: values.map(one => ({ ...aSheet, ...one })),
  })
  const aBuild = { kind: 'build' } as const

  test('follow an event that tells of a record between two builds, though no run changed a row', async () => {
    const told = [
      sheets({ id: 1, status: 'pending_approval' }, { id: 2 }),
      aBuild,
      { kind: 'event', id: 1, hours: 5 },
    ]
    const { engine } = await bench.warehouse()
    expect(await live(engine, [...(told as Happening[]), aBuild], marts)).toBeGreaterThan(0)
  })

  test('would not, if the query of touched parts forgot where a record was', async () => {
    const [worker] = marts.filter(({ name }) => name === 'worker_week')
    const weak = `select t.worker_id from star.fact_timesheet as t where t.timesheet_id in :changed(timesheets)`
    const weaker = { ...(worker as Mart), parts: { columns: ['worker_id'], touched: weak } }
    const moved = [sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }), aBuild, sheets({ id: 1, worker: 2 })]
    const { engine } = await bench.warehouse()
    await expect(live(engine, moved, [weaker])).rejects.toThrow(/worker_week/)
    expect(await live((await bench.warehouse()).engine, moved, [worker as Mart])).toBe(1)
  })

  test('are made whole when something changed that no list of records tells of', async () => {
    const { engine } = await bench.warehouse()
    const star = new LivingStar()
    const inPart = async (): Promise<Record<string, number | undefined>> => {
      const { marts: built } = await build(engine, star.now)
      expect(built.filter(({ state }) => state !== 'built')).toEqual([])
      for (const mart of marts)
        expect({ [mart.name]: await rowsOf(engine, mart) }).toEqual({
          [mart.name]: await wholeRows(engine, mart, star.now),
        })
      return Object.fromEntries(built.map(({ name, made }) => [name, made]))
    }
    const nothingInPart = Object.fromEntries(marts.map(({ name }) => [name, undefined]))
    try {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }, { id: 3, worker: 3 }))
      expect(await inPart()).toEqual(nothingInPart)
      await star.happen(engine, sheets({ id: 1, worker: 1, hours: 50 }))
      expect(await inPart()).toMatchObject({ worker_week: 1, timesheet_cycle: 1, expense_summary: 0 })

      await star.happen(engine, sheets({ id: 1, worker: 1, hours: 51 }))
      await engine.run('delete from ops.changed_record')
      expect(await inPart()).toMatchObject({ worker_week: undefined, timesheet_cycle: undefined })

      await star.happen(engine, sheets({ id: 1, worker: 1, hours: 52 }))
      await engine.run(
        `insert into ops.forgotten (person, hash_key, state, allows_return, begun_at) values ('p', 'k', 'begun', false, '2026-04-08T10:00:00Z')`,
      )
      await engine.run(`update star.fact_timesheet set reference = 'forgotten'`)
      expect(await inPart()).toEqual(nothingInPart)
    } finally {
      star.close()
    }
  })

  test('are made in slices when one statement runs out of memory, and slices that do as well leave the rows', async () => {
    const { engine } = await bench.warehouse()
    const star = new LivingStar()
    const [worker] = marts.filter(({ name }) => name === 'worker_week') as [Mart]
    let left = 0
    let fills = 0
    const narrow = wrappedEngine(engine, inner => ({
      async run(sql, values) {
        if (!sql.includes('insert into mart."worker_week"')) return inner.run(sql, values)
        fills += 1
        if (left > 0) {
          left -= 1
          throw new OutOfMemory({ what: 'the rows do not fit' })
        }
        return inner.run(sql, values)
      },
    }))
    const buildWith = async (failures: number) => {
      left = failures
      fills = 0
      const { marts: built } = await build(narrow, star.now, { marts: [worker] })
      return [built[0]?.state, fills]
    }
    try {
      await star.happen(engine, sheets(...Array.from({ length: 20 }, (_, id) => ({ id, worker: id }))))
      expect(await buildWith(1)).toEqual(['built', 9])
      const before = await rowsOf(engine, worker)
      expect(before).toEqual(await wholeRows(engine, worker, star.now))
      await star.happen(engine, sheets({ id: 1, worker: 2 }))
      expect(await buildWith(2)).toEqual(['failed', 2])
      expect(await rowsOf(engine, worker)).toEqual(before)
      expect(await buildWith(1)).toEqual(['built', 9])
      expect(await rowsOf(engine, worker)).toEqual(await wholeRows(engine, worker, star.now))
    } finally {
      star.close()
    }
  })

  test('keep their rows when a check fails or the build is stopped, and the next build has what this one would', async () => {
    const { engine } = await bench.warehouse()
    const star = new LivingStar()
    const [worker] = marts.filter(({ name }) => name === 'worker_week') as [Mart]
    const of = { marts: [worker] }
    try {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }))
      await build(engine, star.now, of)
      const before = await rowsOf(engine, worker)
      await star.happen(engine, sheets({ id: 1, worker: 2 }))
      const refuses: Gate = async () => [{ check: 'planted', severity: 'error', rows: 1 }]
      const refused = await build(engine, star.now, { ...of, gate: refuses })
      expect(refused.marts).toMatchObject([{ state: 'refused' }])
      expect(await rowsOf(engine, worker)).toEqual(before)
      await star.happen(engine, sheets({ id: 2, worker: 3 }))
      await build(engine, star.now, of)
      expect(await rowsOf(engine, worker)).toEqual(await wholeRows(engine, worker, star.now))

      const built = await rowsOf(engine, worker)
      await star.happen(engine, sheets({ id: 1, worker: 0 }))
      const stops: Gate = async () => {
        throw new Interrupted({ what: 'told to stop' })
      }
      await expect(build(engine, star.now, { ...of, gate: stops })).rejects.toThrow(Interrupted)
      expect(await rowsOf(engine, worker)).toEqual(built)
      const next = await build(engine, star.now, of)
      expect(next.marts[0]?.made).toBeGreaterThan(0)
      expect(await rowsOf(engine, worker)).toEqual(await wholeRows(engine, worker, star.now))
    } finally {
      star.close()
    }
  })

  test('are made whole when a merge commits meanwhile', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const star = new LivingStar()
    const [worker] = marts.filter(({ name }) => name === 'worker_week') as [Mart]
    try {
      await star.happen(engine, sheets({ id: 1, worker: 1 }, { id: 2, worker: 2 }))
      await build(engine, star.now, { marts: [worker] })
      await star.happen(engine, sheets({ id: 1, worker: 2 }))
      const seen: (number | undefined)[] = []
      const late: BuildEffects['onMart'] = result => {
        if (result.state === 'building') return
        seen.push(result.made)
      }
      // Between the beginning of the build and that of its mart.
      const overtaking = {
        ...engine,
        freeMemory: async () => star.happen(engine, sheets({ id: 2, worker: 3 })),
      }
      await build(overtaking as Engine, star.now, { marts: [worker], onMart: late })
      expect(seen).toEqual([undefined])
      expect(await rowsOf(engine, worker)).toEqual(await wholeRows(engine, worker, star.now))
    } finally {
      star.close()
    }
  })
})
