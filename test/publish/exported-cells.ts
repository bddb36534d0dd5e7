/** Every cell of the tables of an export, summed up: in the files, and in the warehouse. */
import { join } from 'node:path'
import type { ExportManifest } from '../../src/publish/export/export.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

/** What DuckDB selects from, by the qualified name of the table. */
type Sources = ReadonlyMap<string, string>

type Exported = Pick<ExportManifest, 'tables'>

export const tablesIn = ({ tables }: Exported): Sources =>
  new Map(tables.map(({ schema, name }) => [`${schema}.${name}`, `${schema}."${name}"`]))

/** Folders of months add a column, which is left out. */
export const filesIn = ({ tables }: Exported, at: string): Sources =>
  new Map(
    tables.map(({ schema, name, columns, files }) => {
      const list = files.map(({ path }) => `'${join(at, path)}'`).join(', ')
      const names = columns.map(column => `"${column.name}"`).join(', ')
      return [
        `${schema}.${name}`,
        `(select ${names} from read_parquet([${list}], hive_partitioning = false))`,
      ]
    }),
  )

/** Rows and the sum of the hashes of all rows, whatever their order, by table. */
export async function digestOf(engine: Engine, sources: Sources): Promise<Readonly<Record<string, string>>> {
  const selects = [...sources].map(
    ([name, from]) =>
      `select '${name}' as name, count(*) || ' ' || coalesce(sum(cast(hash(t) as hugeint)), 0) as digest from ${from} as t`,
  )
  const rows = await engine.stage.rows<{ name: string; digest: string }>(selects.join(' union all '))
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}
