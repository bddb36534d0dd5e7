/** Builds of some marts, and the rows that building them now would make. */
import { defaultDays } from '../../src/lib/day-rule.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildEffects, type BuildResult, buildMarts } from '../../src/marts/build.ts'
import { tableColumns } from '../../src/marts/columns.ts'
import { dayOf, slices } from '../../src/marts/inputs.ts'
import { type Mart, readMarts, stampColumns } from '../../src/marts/mart.ts'
import { type MartGate, openGate } from '../../src/marts/rebuild.ts'
import { fillStatement } from '../../src/marts/table.ts'
import { lastRead } from '../../src/state/marts/source-state.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteNames } from '../../src/warehouse/sql-text.ts'

const names = [
  'worker_week',
  'timesheet_cycle',
  'cost_code_spend',
  'expense_summary',
  'dim_agency',
  'labour_spend_weekly',
]
export const marts = readMarts().filter(({ name }) => names.includes(name))

let builds = 0

export function build(
  engine: Engine,
  nowMs: number,
  more: { marts?: readonly Mart[]; gate?: MartGate; onMart?: BuildEffects['onMart'] } = {},
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
      onMart: more.onMart ?? (() => undefined),
    },
    { marts: more.marts ?? marts, names: [], all: false },
  )
}

const stamps = new Set(stampColumns.map(({ name }) => name))

export const rowsOf = async (engine: Engine, mart: Mart): Promise<string[]> => {
  const columns = tableColumns(mart).filter(({ name }) => !stamps.has(name))
  const rows = await engine.rows(
    `select ${quoteNames(columns.map(({ name }) => name))} from mart.${mart.name}`,
  )
  return rows.map(row => JSON.stringify(row)).sort()
}

class Undone extends Error {}

/** What a build would make now, whatever is kept. */
export const wholeRows = (engine: Engine, mart: Mart, nowMs: number): Promise<string[]> =>
  undoneRows(engine, mart, { nowMs, slices: [undefined] })

/** The same in slices. */
export const slicedRows = (engine: Engine, mart: Mart, nowMs: number): Promise<string[]> =>
  undoneRows(engine, mart, { nowMs, slices })

async function undoneRows(
  engine: Engine,
  mart: Mart,
  { nowMs, slices }: { readonly nowMs: number; readonly slices: readonly (string | undefined)[] },
): Promise<string[]> {
  let found: string[] = []
  const now = new Date(nowMs).toISOString()
  const moment = { asOf: await lastRead(engine), today: dayOf(nowMs, defaultDays.zone), ...defaultDays, now }
  const undone = engine.transaction(async engine => {
    await engine.run(`delete from mart.${mart.name}`)
    for (const slice of slices) {
      const fill = fillStatement(mart, `mart.${mart.name}`, { ...moment, ...(slice && { slice }) })
      await engine.run(engine.forFullScan(fill))
    }
    found = await rowsOf(engine, mart)
    throw new Undone()
  })
  await undone.catch(error => {
    if (!(error instanceof Undone)) throw error
  })
  return found
}
