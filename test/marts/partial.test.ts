/** Marts that are made anew in part hold what a whole rebuild would: cell by cell, whatever happened between builds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { usualZone } from '../../src/lib/zones.ts'
import { type BuildResult, buildMarts } from '../../src/marts/build.ts'
import { tableColumns } from '../../src/marts/columns.ts'
import { dayOf } from '../../src/marts/inputs.ts'
import { type Mart, readMarts, stampColumns } from '../../src/marts/mart.ts'
import { type Gate, openGate } from '../../src/marts/rebuild.ts'
import { fillStatement } from '../../src/marts/table.ts'
import { lastRead } from '../../src/state/marts/source-state.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteNames } from '../../src/warehouse/sql-text.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { type Happening, happening, LivingStar } from './living-star.ts'

/** Those with parts, and some that nothing but what they read concerns. */
const names = [
  'worker_week',
  'timesheet_cycle',
  'cost_code_spend',
  'expense_summary',
  'dim_agency',
  'attendance_weekly',
]
const marts = readMarts().filter(({ name }) => names.includes(name))

let builds = 0

function build(
  engine: Engine,
  nowMs: number,
  more: { marts?: readonly Mart[]; gate?: Gate } = {},
): Promise<BuildResult> {
  builds += 1
  return buildMarts(
    {
      engine,
      clock: { now: () => nowMs, sleep: async () => undefined },
      rng: seededRng(builds),
      signal: new AbortController().signal,
      version: 'test',
      gate: more.gate ?? openGate,
      onMart: () => undefined,
    },
    { marts: more.marts ?? marts, names: [], all: false },
  )
}

const stamps = new Set(stampColumns.map(({ name }) => name))

const rowsOf = async (engine: Engine, mart: Mart): Promise<string[]> => {
  const columns = tableColumns(mart).filter(({ name }) => !stamps.has(name))
  const rows = await engine.rows(
    `select ${quoteNames(columns.map(({ name }) => name))} from mart.${mart.name}`,
  )
  return rows.map(row => JSON.stringify(row)).sort()
}

class Undone extends Error {}

/** What a whole rebuild would make, which is then undone. */
async function wholeRows(engine: Engine, mart: Mart, nowMs: number): Promise<string[]> {
  let found: string[] = []
  const now = new Date(nowMs).toISOString()
  const moment = { asOf: await lastRead(engine), today: dayOf(nowMs, usualZone), zone: usualZone, now }
  const undone = engine.transaction(async engine => {
    await engine.run(`delete from mart.${mart.name}`)
    await engine.run(engine.overWholeTables(fillStatement(mart, `mart.${mart.name}`, moment)))
    found = await rowsOf(engine, mart)
    throw new Undone()
  })
  await undone.catch(error => {
    if (!(error instanceof Undone)) throw error
  })
  return found
}

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
      for (const mart of of)
        expect({ [mart.name]: await rowsOf(engine, mart) }).toEqual({
          [mart.name]: await wholeRows(engine, mart, star.now),
        })
    }
    return inPart
  } finally {
    star.close()
  }
}

describeOnEngines('marts made in part', bench => {
  test('hold what whole ones would', async () => {
    let inPart = 0
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 14 }), async happenings => {
        inPart += await live((await bench.warehouse()).engine, happenings, marts)
      }),
      { numRuns: thorough ? 60 : 6, endOnFailure: !thorough },
    )
    expect(inPart).toBeGreaterThan(0)
  }, 600_000)
})
