/** Rebuilds one mart in one transaction: a reader sees all of the previous rows or all of today's. */
import { counted } from '../lib/counted.ts'
import { OutOfMemory } from '../lib/errors.ts'
import { forgetMart, recordMart } from '../state/marts/marts.ts'
import type { MartRow } from '../state/marts/tables.ts'
import { type Lease, renewLease } from '../state/runs/leases.ts'
import { type Engine, runTogether } from '../warehouse/engine.ts'
import { dropsOfForeignKeysTo } from '../warehouse/postgres/catalogue.ts'
import {
  keepRights,
  type Regrant,
  requireNothingInTheWay,
} from '../warehouse/postgres/rights/replaced-table.ts'
import { policiesOn } from '../warehouse/postgres/rights/row-policies.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { isSliced, type ReportingTime, slices } from './inputs.ts'
import type { Mart } from './mart.ts'
import {
  commentStatements,
  fillStatement,
  makeTable,
  orderOfRows,
  requireKeys,
  shapeOf,
  tableOf,
} from './table.ts'
import { dropView, madeViews, viewStatements, viewsOf } from './views.ts'

/** A check that found rows in a rebuilt mart. */
export interface CheckFinding {
  /** Name of the check. */
  readonly check: string
  readonly severity: 'error' | 'warn'
  readonly rows: number
}

/**
 * Checks a mart inside the transaction that holds its new rows. A finding with the severity `error` rolls them back,
 * and the previous rows stay. It must not write, as the rollback would undo that too. A check that cannot run throws.
 * `now` is ISO 8601.
 */
export type MartGate = (
  engine: Engine,
  mart: Mart,
  time: ReportingTime & { readonly now: string },
) => Promise<readonly CheckFinding[]>

/** For a build without checks. */
export const openGate: MartGate = async () => []

export interface MartRebuild {
  readonly engine: Engine
  readonly mart: Mart
  /** Its row in the ledger; undefined when it was never built. */
  readonly recorded: MartRow | undefined
  readonly hasTable: boolean
  /** Whether the schema has neither the table nor a view of that name. */
  readonly isFresh: boolean
  readonly sources: string
  readonly time: ReportingTime
  readonly runId: string
  readonly lease: Lease
  readonly gate: MartGate
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Without them, one statement makes all rows. */
  readonly slices?: readonly string[]
}

export interface MartRebuildResult {
  readonly rows: number
  readonly milliseconds: number
  readonly findings: readonly CheckFinding[]
}

/** Checks found errors: the rebuild is rolled back. */
export class RebuildRefused extends Error {
  readonly findings: readonly CheckFinding[]

  constructor(findings: readonly CheckFinding[]) {
    const errors = findings.filter(({ severity }) => severity === 'error')
    super(errors.map(({ check, rows }) => `${check}: ${counted(rows, 'row')}`).join(', '))
    this.name = new.target.name
    this.findings = findings
  }
}

/** How long the build waits for readers of a table whose shape changes; other readers wait behind it. */
const patience = '10s'

/** Drops what depends on a table: its views, and on a server the references of other tables. */
async function letGo(engine: Engine, name: string, views: readonly string[] = []): Promise<void> {
  for (const view of await madeViews(engine, name, views)) await engine.run(dropView(view))
  if (!engine.keepsKeys) return
  for (const statement of await dropsOfForeignKeysTo(engine, { schema: 'mart', name }))
    await engine.run(statement)
}

/** Throws MusterError where another user's view depends on the table; DuckDB does not track such views. */
async function requireFree(engine: Engine, name: string, views: readonly string[] = []): Promise<void> {
  if (!engine.isShared) return
  await requireNothingInTheWay(engine, { schema: 'mart', name }, await madeViews(engine, name, views))
}

/** Removes a mart that no file declares any more. */
export async function removeMart(engine: Engine, name: string): Promise<void> {
  await engine.transaction(async engine => {
    await engine.actAsOwnerOf('mart')
    await requireFree(engine, name)
    await letGo(engine, name)
    await engine.run(`drop table if exists ${tableOf(name)}`)
    await forgetMart(engine, name)
  })
}

/**
 * Fills a table of another shape beside the old one, so that readers wait only for the exchange and the checks after it.
 */
async function exchange(engine: Engine, mart: Mart, beside: string): Promise<void> {
  const views = viewsOf(mart).map(({ name }) => name)
  const rights: Regrant[] = []
  for (const name of [mart.name, ...views]) rights.push(await keepRights(engine, { schema: 'mart', name }))
  // Copies the policies: without them the new table would show every row to every reader.
  const policies = await policiesOn(engine, engine.schema('mart'), mart.name)
  await engine.run(`set local lock_timeout = '${patience}'`)
  await letGo(engine, mart.name, views)
  await engine.run(`drop table if exists ${tableOf(mart.name)}`)
  await engine.run(`alter table ${beside} rename to ${quoteName(mart.name)}`)
  await runTogether(engine, [...policies, ...viewStatements(mart)])
  for (const regrant of rights) await regrant()
}

/** Needs no draft: no process reads a DuckDB file during a write, and a table new to a server has no readers. */
async function makeInPlace(engine: Engine, mart: Mart, isFresh: boolean): Promise<void> {
  if (!isFresh) {
    await letGo(
      engine,
      mart.name,
      viewsOf(mart).map(({ name }) => name),
    )
    await engine.run(`drop table if exists ${tableOf(mart.name)}`)
  }
  await makeTable(engine, mart, tableOf(mart.name))
  await runTogether(engine, viewStatements(mart))
}

/** Fills the empty table `target` and returns the number of its rows. */
async function fillTable({ engine, mart, time, now, slices }: MartRebuild, target: string): Promise<number> {
  const at = { ...time, now: new Date(now()).toISOString() }
  const fillTimes = slices?.map(slice => ({ ...at, slice })) ?? [at]
  let rows = 0
  const order = orderOfRows(engine, mart)
  for (const one of fillTimes)
    rows += await engine.run(engine.forFullScan(fillStatement(mart, target, one) + order))
  return rows
}

/** Returns the number of rows. */
async function refill(rebuild: MartRebuild): Promise<number> {
  const { engine, mart, recorded, hasTable } = rebuild
  const table = tableOf(mart.name)
  if (hasTable && recorded?.shape === shapeOf(mart)) {
    if (recorded.definition_id !== mart.definitionId) await runTogether(engine, commentStatements(mart))
    await engine.run(`delete from ${table}`)
    return fillTable(rebuild, table)
  }
  if (!(engine.isShared && hasTable)) {
    await makeInPlace(engine, mart, rebuild.isFresh)
    return fillTable(rebuild, table)
  }
  const views = viewsOf(mart).map(({ name }) => name)
  await requireFree(engine, mart.name, views)
  const beside = tableOf(`${mart.name}~`)
  await makeTable(engine, mart, beside)
  const rows = await fillTable(rebuild, beside)
  await exchange(engine, mart, beside)
  return rows
}

async function rebuildOnce(rebuild: MartRebuild): Promise<MartRebuildResult> {
  const { engine, mart, time, sources, runId, lease, gate, now } = rebuild
  const started = now()
  return engine.transaction(async engine => {
    await engine.actAsOwnerOf('mart')
    await engine.planForFullScans()
    const rows = await refill({ ...rebuild, engine })
    await requireKeys(engine, mart)
    const findings = await gate(engine, mart, { ...time, now: new Date(now()).toISOString() })
    if (findings.some(({ severity, rows }) => severity === 'error' && rows > 0))
      throw new RebuildRefused(findings)
    const milliseconds = Math.round(now() - started)
    const at = new Date(now()).toISOString()
    const shape = shapeOf(mart)
    await recordMart(engine, {
      name: mart.name,
      definition_id: mart.definitionId,
      shape,
      sources,
      state: 'built',
      built_at: at,
      as_of: time.asOf,
      rows,
      milliseconds,
      tried_at: at,
      message: null,
      run_id: runId,
    })
    // A build that lost its lease must not commit beside the one that took over.
    await renewLease(engine, lease)
    return { rows, milliseconds, findings }
  })
}

/** Throws RebuildRefused for the errors that the gate found; the previous rows stay after any error. */
export async function rebuildMart(rebuild: MartRebuild): Promise<MartRebuildResult> {
  await rebuild.engine.freeMemory()
  try {
    return await rebuildOnce(rebuild)
  } catch (error) {
    if (!(error instanceof OutOfMemory)) throw error
    await rebuild.engine.freeMemory(0)
    return rebuildOnce({ ...rebuild, ...(isSliced(rebuild.mart) && { slices }) })
  }
}
