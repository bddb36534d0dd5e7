/** Two warehouses beside each other: every table of star, pii and history, and of ops what does not tell of the moment. */
import { expect } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { volatileColumns } from './warehouse-dump.ts'
import { syncOnce, type Warehouse } from './warehouse-fixture.ts'

/** Leases, requests of the minute and the use of the key differ from one second to the next. */
const ofTheMoment = new Set([
  'lease',
  'sent',
  'api_usage',
  'migration',
  'dag_run',
  'dag_task',
  'scan_id',
  'request_budget',
])

const schemas = ['star', 'pii', 'history', 'ops'] as const

export interface Named {
  readonly schema: (typeof schemas)[number]
  readonly name: string
  readonly columns: readonly string[]
}

const inSchemas = (engine: Engine): string => schemas.map(name => `'${engine.schema(name)}'`).join(', ')

/** Tables and views that are compared, with their columns in alphabetical order. */
export async function comparedTables(engine: Engine): Promise<Named[]> {
  const rows = await engine.rows<{ schema: string; name: string; column: string }>(
    `select table_schema as schema, table_name as name, column_name as column from information_schema.columns
     where table_catalog = current_database() and table_schema in (${inSchemas(engine)})`,
  )
  const tables = new Map<string, Named & { columns: string[] }>()
  for (const row of rows) {
    const schema = schemas.find(one => engine.schema(one) === row.schema)
    if (!schema || (schema === 'ops' && ofTheMoment.has(row.name))) continue
    // Scans are numbered in the order in which they happen to begin.
    if (volatileColumns.has(`${row.name}.${row.column}`) || row.column === 'scan_id') continue
    const at = `${schema}.${row.name}`
    const table = tables.get(at) ?? { schema, name: row.name, columns: [] }
    table.columns.push(row.column)
    tables.set(at, table)
  }
  for (const table of tables.values()) table.columns.sort()
  return [...tables.values()].sort((a, b) => `${a.schema}.${a.name}`.localeCompare(`${b.schema}.${b.name}`))
}

/**
 * Lists are read side by side, and one that arrives before the projects that it names adds a member for them: that is one write
 * more. Writes of resources are the same.
 */
const conditions: Readonly<Record<string, string>> = {
  write_count: `name in (${catalogue.map(({ name }) => `'${name}'`).join(', ')})`,
}

export const selectOf = ({ schema, name, columns }: Named): string =>
  `select ${columns.map(column => `"${column}"`).join(', ')} from ${schema}."${name}" where ${conditions[name] ?? 'true'}`

async function rowsOf(engine: Engine, table: Named): Promise<string[]> {
  return (await engine.rows(selectOf(table))).map(row => JSON.stringify(row)).sort()
}

/** Compares as a reader of the engines sees it; gives how many rows were alike. */
export async function expectSameRows(left: Engine, right: Engine): Promise<number> {
  const tables = await comparedTables(left)
  expect(await comparedTables(right)).toEqual(tables)
  let alike = 0
  for (const table of tables) {
    const [mine, others] = [await rowsOf(left, table), await rowsOf(right, table)]
    const [mineSet, otherSet] = [new Set(mine), new Set(others)]
    const differ = {
      left: mine.filter(row => !otherSet.has(row)).slice(0, 3),
      right: others.filter(row => !mineSet.has(row)).slice(0, 3),
      rows: mine.length - others.length,
    }
    expect({ table: `${table.schema}.${table.name}`, ...differ }).toEqual({
      table: `${table.schema}.${table.name}`,
      left: [],
      right: [],
      rows: 0,
    })
    alike += mine.length
  }
  return alike
}

/** Texts that are hard for a CSV, a COPY or a literal. */
const awkward = [
  '',
  ' ',
  '"',
  `it's "quoted", twice`,
  'a\nb\r\nc',
  '\\.',
  '\\N',
  'NULL',
  'null',
  '\t,;|',
  '\\',
  '🙂 \u202e\u0301',
  `'); drop table star.dim_user; --`,
  '$1 $$ %s {x}',
]

/** Bad records, undeclared fields and awkward texts, besides what a day of work changes. */
function disturb({ world }: Sandbox, at: string, count: number): void {
  mutateWorld(world, { rng: seededRng(7), nowMs: Date.parse(at), count, deletions: true })
  const sheets = world.all('timesheets').slice(0, awkward.length + 3)
  awkward.forEach((text, index) => {
    const record = sheets[index] as { id: string }
    world.upsert('timesheets', {
      ...record,
      reference: text,
      worker: { id: `awkward-${index}`, name: text, reference: text },
      undeclared: { [text || 'empty']: text },
      updatedAt: at,
    })
  })
  const [bad, rounded, odd] = sheets.slice(awkward.length) as { id: string }[]
  world.upsert('timesheets', { ...bad, id: `${bad?.id}`, netHours: 'abc', updatedAt: at })
  world.upsert('timesheets', { ...rounded, id: `${rounded?.id}`, netHours: 1.23456, updatedAt: at })
  world.upsert('timesheets', { ...odd, id: `${odd?.id}`, status: 'on hold', updatedAt: at })
}

/** The same instant for both, or times of loading and names of runs would differ. */
const stoppedAt = (iso: string): Clock => ({ now: () => Date.parse(iso), sleep: systemClock.sleep })

/** A sync a night from 3 November 2026 into each warehouse in turn, with a day of changes between two nights. */
export async function syncNights(
  sandbox: Sandbox,
  warehouses: readonly Warehouse[],
  { nights, changes }: { readonly nights: number; readonly changes: number },
): Promise<void> {
  for (let night = 0; night < nights; night += 1) {
    if (night > 0) disturb(sandbox, `2026-11-0${2 + night}T12:00:00.000Z`, changes)
    for (const warehouse of warehouses) {
      const clock = stoppedAt(`2026-11-0${3 + night}T02:00:00.000Z`)
      const { failure } = await syncOnce(sandbox, warehouse, { effects: { clock } })
      expect(failure).toBeUndefined()
    }
  }
}

/** First sync, a day of changes, second sync, into each warehouse in turn. */
export const syncBoth = (
  sandbox: Sandbox,
  warehouses: readonly Warehouse[],
  changes: number,
): Promise<void> => syncNights(sandbox, warehouses, { nights: 2, changes })
