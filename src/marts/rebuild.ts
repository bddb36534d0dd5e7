/** Rebuilds one mart in one transaction: a reader sees all of yesterday's rows or all of today's. */
import { counted } from '../lib/counted.ts'
import { OutOfMemory } from '../lib/errors.ts'
import { changesNow } from '../state/marts/changes.ts'
import { forgetMart, recordMart } from '../state/marts/marts.ts'
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
import type { Moment } from './inputs.ts'
import type { Mart } from './mart.ts'
import { Overtaken, type PartsRefill, refillParts } from './partial/refill-parts.ts'
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

export interface Rebuild extends PartsRefill {
  /** Whether the schema has neither the table nor a view of that name. */
  readonly isFresh: boolean
  readonly sources: string
  readonly runId: string
  readonly lease: Lease
  readonly gate: Gate
  /** Into how many a whole rebuild is cut; one statement makes all rows without. */
  readonly slices?: number
}

export interface Rebuilt {
  readonly rows: number
  /** Of them made anew, where not all are. */
  readonly made?: number
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

/**
 * Fills the empty table `target` and returns the number of its rows. Slices of the parts that the mart has are made one after the
 * other: each takes its share of the memory that all rows would.
 */
export async function fillWhole(
  { engine, mart, moment, now, slices = 1 }: Pick<Rebuild, 'engine' | 'mart' | 'moment' | 'now' | 'slices'>,
  target: string,
): Promise<number> {
  const at = { ...moment, now: new Date(now()).toISOString() }
  let rows = 0
  for (let slice = 0; slice < slices; slice += 1) {
    const isMade = (columns: string): string => engine.inSlice(columns, { of: slices, at: slice })
    const statement = fillStatement(mart, target, slices === 1 ? at : { ...at, isMade })
    rows += await engine.run(engine.overWholeTables(statement))
  }
  return rows
}

/** Returns the number of rows. */
async function refill(rebuild: Rebuild): Promise<number> {
  const { engine, mart, recorded, hasTable } = rebuild
  const table = tableOf(mart.name)
  const fill = (target: string): Promise<number> => fillWhole(rebuild, target)
  if (hasTable && recorded?.shape === shapeOf(mart)) {
    if (recorded.definition_id !== mart.definitionId) await runTogether(engine, commentStatements(mart))
    await engine.run(`delete from ${table}`)
    return fill(table)
  }
  if (!(engine.isShared && hasTable)) {
    await makeInPlace(engine, mart, rebuild.isFresh)
    return fill(table)
  }
  const views = viewsOf(mart).map(({ name }) => name)
  await requireFree(engine, mart.name, views)
  const beside = tableOf(`${mart.name}~`)
  await makeTable(engine, mart, beside)
  const rows = await fill(beside)
  await exchange(engine, mart, beside)
  return rows
}

async function refillWhole(rebuild: Rebuild): Promise<Pick<Rebuilt, 'rows'>> {
  const rows = await refill(rebuild)
  await requireKeys(rebuild.engine, rebuild.mart)
  return { rows }
}

async function rebuildOnce(rebuild: Rebuild): Promise<Rebuilt> {
  const { engine, mart, moment, sources, basis, runId, lease, gate, now } = rebuild
  const started = now()
  return engine.transaction(async engine => {
    // What commits after this is read again by the next build.
    const before = await changesNow(engine)
    await engine.actAsOwnerOf('mart')
    await engine.planForWholeTables()
    const inside = { ...rebuild, engine }
    const filled = (await refillParts(inside, before)) ?? (await refillWhole(inside))
    const { rows } = filled
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
      basis,
      changes_position: before.position,
      changes_counted: before.counted,
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
    return { ...filled, milliseconds, findings }
  })
}

/** Weeks of workers of ten million timesheets fit the memory of DuckDB in as many. */
const slicesThatFit = 8

/** Throws Refused for the errors that the gate found; whatever it throws, yesterday's rows stay. */
export async function rebuildMart(rebuild: Rebuild): Promise<Rebuilt> {
  await rebuild.engine.freeMemory()
  try {
    return await rebuildOnce(rebuild)
  } catch (error) {
    if (error instanceof Overtaken) return rebuildMart({ ...rebuild, isWhole: true })
    if (!(error instanceof OutOfMemory)) throw error
    await rebuild.engine.freeMemory(0)
    return rebuildOnce({ ...rebuild, isWhole: true, ...(rebuild.mart.parts && { slices: slicesThatFit }) })
  }
}
