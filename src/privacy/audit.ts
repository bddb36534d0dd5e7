/** Looks for values of the PII tables in everything that is published; tells where and how many, never which. */
import { isPublished } from '../state/tables.ts'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { isText, type PiiValues, textsOf } from './pii-values.ts'
import { tellingIn } from './telling.ts'

export interface Hit {
  /** What was searched: the warehouse, a copy or an export. */
  readonly place: string
  /** table.column, with the schema. */
  readonly column: string
  /** Distinct cells that are, or contain, such a value. */
  readonly cells: number
}

export interface Searched {
  readonly hits: readonly Hit[]
  readonly columns: number
  readonly cells: number
}

/** Written by the program itself, or an id of the service. */
const isOwn = (name: string): boolean => /(_hash|run_id|_id|_key)$/.test(name)

async function search(
  engine: Engine,
  { table, column }: { table: string; column: string },
  values: Pick<PiiValues, 'has'>,
): Promise<{ found: number; cells: number }> {
  let [found, cells] = [0, 0]
  for await (const texts of textsOf(engine, table, column))
    for (const text of texts) {
      cells += 1
      for (const normal of tellingIn(text))
        if (values.has(normal)) {
          found += 1
          break
        }
    }
  return { found, cells }
}

const published: readonly SchemaName[] = ['star', 'mart', 'ops']

/** Every text column of a warehouse or copy that is published. */
export async function searchPublished(engine: Engine, values: Pick<PiiValues, 'has'>): Promise<Searched> {
  const plain = new Map(published.map(schema => [engine.schema(schema), schema]))
  const described: readonly DescribedColumn[] = await engine.describedColumns([...plain.keys()])
  const hits: Hit[] = []
  let [columns, cells] = [0, 0]
  for (const one of described) {
    const schema = plain.get(one.schema) ?? ''
    if (!isText(one) || isOwn(one.column) || !isPublished(schema, one.table)) continue
    const result = await search(
      engine,
      { table: `${schema}.${quoteName(one.table)}`, column: one.column },
      values,
    )
    columns += 1
    cells += result.cells
    if (result.found > 0)
      hits.push({
        place: engine.location,
        column: `${schema}.${one.table}.${one.column}`,
        cells: result.found,
      })
  }
  return { hits, columns, cells }
}
