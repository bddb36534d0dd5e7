/** Foreign keys from marts to their dimensions, for tools that derive joins from them; PostgreSQL only, and not enforced. */
import { type Engine, runTogether } from '../warehouse/engine.ts'
import { foreignKeysIn } from '../warehouse/postgres/catalogue.ts'
import { shortName } from '../warehouse/schema/structure.ts'
import { quoteName } from '../warehouse/sql-text.ts'
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

/** References from these marts to the dimensions among them. */
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

/** Tests whether another of these marts refers to a mart. */
export function referredTo(marts: readonly Mart[]): (mart: Mart) => boolean {
  const targets = new Set(martReferences(marts).map(({ target }) => target.mart))
  return ({ name }) => targets.has(name)
}

const addition = ({ name, mart, column, target }: MartReference): string =>
  `alter table mart.${quoteName(mart)} add constraint ${quoteName(name)} foreign key (${quoteName(column)})
   references mart.${quoteName(target.mart)} (${quoteName(target.column)}) not enforced`

/** Adds the missing references that the server supports, between existing tables. */
export async function addMartReferences(
  engine: Engine,
  marts: readonly Mart[],
  tables: ReadonlySet<string>,
): Promise<void> {
  if (!engine.keepsKeys) return
  const foreignKeys = await foreignKeysIn(engine, 'mart')
  if (!foreignKeys) return
  const missing = martReferences(marts).filter(
    ({ name, mart, target }) => !foreignKeys.has(name) && tables.has(mart) && tables.has(target.mart),
  )
  await runTogether(engine, missing.map(addition))
}
