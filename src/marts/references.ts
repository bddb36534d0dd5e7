/** Foreign keys from marts to their dimensions, for tools that derive joins from them; PostgreSQL only, and not enforced. */
import type { Engine } from '../warehouse/engine.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { shortName } from '../warehouse/schema/structure.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { dimensionOf } from './columns.ts'
import type { Mart } from './mart.ts'

export interface MartReference {
  readonly name: string
  readonly mart: string
  readonly column: string
  readonly target: { readonly mart: string; readonly column: string }
}

const calendar = { mart: 'dim_date', column: 'date_day' } as const

function targetOf(mart: Mart, column: Mart['columns'][number]): MartReference['target'] | undefined {
  if (column.type === 'date' && column.isKey) return mart.name === calendar.mart ? undefined : calendar
  const label = dimensionOf(column)
  return label === undefined || mart.dimensionOf === column.name
    ? undefined
    : { mart: label.table, column: label.key }
}

/** Of those marts, to those of them that are dimensions. */
export function martReferences(marts: readonly Mart[]): MartReference[] {
  const names = new Set(marts.map(({ name }) => name))
  return marts.flatMap(mart =>
    mart.columns.flatMap(column => {
      const target = targetOf(mart, column)
      return target && names.has(target.mart)
        ? [
            {
              name: shortName([mart.name, column.name, 'fkey']),
              mart: mart.name,
              column: column.name,
              target,
            },
          ]
        : []
    }),
  )
}

/** Whether another of those marts refers to a mart. */
export function referredTo(marts: readonly Mart[]): (mart: Mart) => boolean {
  const targets = new Set(martReferences(marts).map(({ target }) => target.mart))
  return ({ name }) => targets.has(name)
}

const addition = ({ name, mart, column, target }: MartReference): string =>
  `alter table mart.${quoteName(mart)} add constraint ${quoteName(name)} foreign key (${quoteName(column)})
   references mart.${quoteName(target.mart)} (${quoteName(target.column)}) not enforced`

/** Adds those that the server supports and lacks, between tables that are there. */
export async function addMartReferences(
  engine: Engine,
  marts: readonly Mart[],
  tables: ReadonlySet<string>,
): Promise<void> {
  if (!engine.keepsKeys) return
  const rows = await engine.rows<{ version: number; held: string | null }>(
    `select cast(current_setting('server_version_num') as integer) as version, c.conname as held
     from (select 1) as one left join pg_catalog.pg_constraint c
       on c.contype = 'f' and c.connamespace = cast($1 as regnamespace)`,
    [engine.schema('mart')],
  )
  if ((rows[0]?.version ?? 0) < 180_000) return
  const held = new Set(rows.map(row => row.held))
  const missing = martReferences(marts).filter(
    ({ name, mart, target }) => !held.has(name) && tables.has(mart) && tables.has(target.mart),
  )
  await runTogether(engine, missing.map(addition))
}

/** Statements that let go of a table to which other marts refer, before another takes its place. */
export async function releases(engine: Engine, mart: string): Promise<string[]> {
  const rows = await engine.rows<{ name: string; table: string }>(
    `select c.conname as name, cast(c.conrelid as regclass)::text as table from pg_catalog.pg_constraint c
     where c.contype = 'f' and c.connamespace = cast('${quoteName(engine.schema('mart'))}' as regnamespace) and c.confrelid = to_regclass(${quoteText(`${quoteName(engine.schema('mart'))}.${quoteName(mart)}`)})`,
  )
  return rows.map(({ name, table }) => `alter table ${table} drop constraint ${quoteName(name)}`)
}
