/** Searches all published data for values of the PII tables; reports where and how many, never which. */
import { isPublished } from '../state/tables.ts'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { identifiersIn } from './identifiers.ts'
import { isText, type PiiValues, textsOf } from './pii-values.ts'

export interface Hit {
  /** What was searched: the warehouse, a copy or an export. */
  readonly place: string
  /** `schema.table.column` */
  readonly column: string
  /** Distinct cells that are, or contain, a PII value. */
  readonly cells: number
}

export interface SearchCounts {
  readonly hits: readonly Hit[]
  readonly columns: number
  readonly cells: number
}

/** Columns that the program computes, and ids of the service. */
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
      for (const normal of identifiersIn(text))
        if (values.has(normal)) {
          found += 1
          break
        }
    }
  return { found, cells }
}

const published: readonly SchemaName[] = ['star', 'mart', 'ops']

/** Searches every published text column of a warehouse or copy. */
export async function searchPublished(engine: Engine, values: Pick<PiiValues, 'has'>): Promise<SearchCounts> {
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
