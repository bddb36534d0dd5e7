/** Rebuilds one mart in one transaction: a reader sees all of yesterday's rows or all of today's. */
import { counted } from '../lib/counted.ts'
import { OutOfMemory } from '../lib/errors.ts'
import { forgetMart, recordMart } from '../state/marts/marts.ts'
import type { MartRow } from '../state/marts/tables.ts'
import { type Lease, renewLease } from '../state/runs/leases.ts'
import type { Engine } from '../warehouse/engine.ts'
import {
  keepRights,
  type Regrant,
  requireNothingInTheWay,
} from '../warehouse/postgres/rights/replaced-table.ts'
import { policiesOn } from '../warehouse/postgres/rights/row-policies.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { isSliced, type Moment, slices } from './inputs.ts'
import type { Mart } from './mart.ts'
import { releases } from './references.ts'
import { commentStatements, fillStatement, makeTable, requireKeys, shapeOf, tableOf } from './table.ts'
import { dropView, madeViews, viewStatements, viewsOf } from './views.ts'

/** A check that found rows in a rebuilt mart. */
export interface Finding {
  /** Name of the check. */
  readonly check: string
  readonly severity: 'error' | 'warn'
  readonly rows: number
}

/**
 * Checks a mart inside the transaction that holds its new rows. A finding with the severity `error` rolls them back, and
 * yesterday's rows stay. It must not write: a rollback would undo that too. A check that cannot run throws. `now` is ISO 8601.
 */
export type Gate = (
  engine: Engine,
  mart: Mart,
  moment: Moment & { readonly now: string },
) => Promise<readonly Finding[]>

/** For a build without checks. */
export const openGate: Gate = async () => []

export interface Rebuild {
  readonly engine: Engine
  readonly mart: Mart
  /** Its row in ops.mart; undefined when it was never built. */
  readonly recorded: MartRow | undefined
  readonly hasTable: boolean
  /** Whether the schema has neither the table nor a view of that name. */
  readonly isFresh: boolean
  readonly sources: string
  readonly moment: Moment
  readonly runId: string
  readonly lease: Lease
  readonly gate: Gate
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Without them, one statement makes all rows. */
  readonly slices?: readonly string[]
}

export interface Rebuilt {
  readonly rows: number
  readonly milliseconds: number
  readonly findings: readonly Finding[]
}

/** Checks found errors: the rebuild is rolled back. */
export class Refused extends Error {
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    const errors = findings.filter(({ severity }) => severity === 'error')
    super(errors.map(({ check, rows }) => `${check}: ${counted(rows, 'row')}`).join(', '))
    this.name = new.target.name
    this.findings = findings
  }
}

/** How long the build waits for readers of a table whose shape changes; other readers wait behind it. */
const patience = '10s'

/** What stands on a table goes before it does: its views, and on a server the references of other tables. */
async function letGo(engine: Engine, name: string, views: readonly string[] = []): Promise<void> {
  for (const view of await madeViews(engine, name, views)) await engine.run(dropView(view))
  if (!engine.keepsKeys) return
  for (const statement of await releases(engine, name)) await engine.run(statement)
}

/** Throws MusterError where what others made stands on the table; DuckDB lets such views be. */
async function requireFree(engine: Engine, name: string, views: readonly string[] = []): Promise<void> {
  if (!engine.isShared) return
  await requireNothingInTheWay(engine, { schema: 'mart', name }, await madeViews(engine, name, views))
}

/** Of a mart that no file declares any more. */
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
 * A table of another shape is filled beside the old one: readers wait only for the exchange and the checks after it.
 */
async function exchange(engine: Engine, mart: Mart, beside: string): Promise<void> {
  const views = viewsOf(mart).map(({ name }) => name)
  const rights: Regrant[] = []
  for (const name of [mart.name, ...views]) rights.push(await keepRights(engine, { schema: 'mart', name }))
  // Without its policies the new table would show every row to those who may see some.
  const policies = await policiesOn(engine, engine.schema('mart'), mart.name)
  await engine.run(`set local lock_timeout = '${patience}'`)
  await letGo(engine, mart.name, views)
  await engine.run(`drop table if exists ${tableOf(mart.name)}`)
  await engine.run(`alter table ${beside} rename to ${quoteName(mart.name)}`)
  await runTogether(engine, [...policies, ...viewStatements(mart)])
  for (const regrant of rights) await regrant()
}

/** No other process reads a file that is being written, and a server that has no such table has no readers of it. */
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
async function fillTable({ engine, mart, moment, now, slices }: Rebuild, target: string): Promise<number> {
  const at = { ...moment, now: new Date(now()).toISOString() }
  const moments = slices?.map(slice => ({ ...at, slice })) ?? [at]
  let rows = 0
  for (const one of moments)
    rows += await engine.run(engine.overWholeTables(fillStatement(mart, target, one)))
  return rows
}

/** Returns the number of rows. */
async function refill(rebuild: Rebuild): Promise<number> {
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

async function rebuildOnce(rebuild: Rebuild): Promise<Rebuilt> {
  const { engine, mart, moment, sources, runId, lease, gate, now } = rebuild
  const started = now()
  return engine.transaction(async engine => {
    await engine.actAsOwnerOf('mart')
    await engine.planForWholeTables()
    const rows = await refill({ ...rebuild, engine })
    await requireKeys(engine, mart)
    const findings = await gate(engine, mart, { ...moment, now: new Date(now()).toISOString() })
    if (findings.some(({ severity, rows }) => severity === 'error' && rows > 0)) throw new Refused(findings)
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
      as_of: moment.asOf,
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

/** Throws Refused for the errors that the gate found; whatever it throws, yesterday's rows stay. */
export async function rebuildMart(rebuild: Rebuild): Promise<Rebuilt> {
  await rebuild.engine.freeMemory()
  try {
    return await rebuildOnce(rebuild)
  } catch (error) {
    if (!(error instanceof OutOfMemory)) throw error
    await rebuild.engine.freeMemory(0)
    return rebuildOnce({ ...rebuild, ...(isSliced(rebuild.mart) && { slices }) })
  }
}
