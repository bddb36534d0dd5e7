/** Columns of star whose values come from a closed list, for checks. */
import { catalogue } from '../../contract/catalogue.ts'
import { starColumns } from './physical.ts'
import { placesOf } from './unique-key.ts'

export interface AcceptedValues {
  /** Name in star. */
  readonly table: string
  readonly key: string
  readonly column: string
  readonly values: readonly string[]
}

/** Each once, also for a table that several resources fill. */
export const acceptedValues: readonly AcceptedValues[] = [
  ...new Map(
    catalogue
      .flatMap(({ table: root }) => placesOf(root))
      .flatMap(({ table }) => {
        const kept = new Set(starColumns(table).map(({ name }) => name))
        return Object.entries(table.columns).flatMap(([column, { values }]): [string, AcceptedValues][] =>
          values && kept.has(column)
            ? [[`${table.name}.${column}`, { table: table.name, key: table.key, column, values }]]
            : [],
        )
      }),
  ).values(),
]
