/** Which values of a full record arrived in the warehouse. */
import { catalogue } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { tablesOf } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type PhysicalTable, physicalTables } from '../../src/warehouse/schema/physical.ts'
import { type Leaf, leavesOf } from './full-record.ts'

/** The ids that must not change between two versions, as they say which record it is. */
const identity: Readonly<Record<string, readonly string[]>> = {
  key: [],
  'metric-rows': ['reqRef', 'supplier'],
  'competency-matrix': ['trade.id', 'project.id', 'sector.id', 'source'],
}

/** Attributes of inferred members: the newest name is stored, earlier ones are no version. */
export const renamed: Readonly<Record<string, readonly string[]>> = {
  'user-assignments': ['name', 'email'],
  'user-permissions': ['name', 'email'],
  'competency-matrix': ['trade.name', 'project.name', 'sector.name'],
}

/** More than any record has, so that no two records share a value. */
const leavesMost = 300

/** Two versions of one record, which differ in every leaf but those that say which record it is. */
export function versionsOf(resource: Resource): readonly [Leaf[], Leaf[]] {
  const number = catalogue.indexOf(resource)
  const fixed = new Set(identity[resource.name] ?? ['id'])
  const first = leavesOf(resource, number * leavesMost)
  const second = leavesOf(resource, (number + catalogue.length) * leavesMost).map(leaf =>
    fixed.has(leaf.path) ? first.find(({ path }) => path === leaf.path)! : leaf,
  )
  return [first, second]
}

export interface Content {
  readonly exact: ReadonlySet<string>
  readonly documents: string
}

/** Most tables are empty: one question for all is quicker than one for each. */
async function filledTables(engine: Engine, schemas: readonly string[]): Promise<PhysicalTable[]> {
  const tables = physicalTables.filter(({ schema }) => schemas.includes(schema))
  const counts = tables.map(
    ({ schema, name }, place) => `select ${place} as place, count(*) as n from ${schema}."${name}"`,
  )
  const rows = await engine.rows<{ place: number; n: number }>(counts.join(' union all '))
  return rows.filter(({ n }) => Number(n) > 0).map(({ place }) => tables[Number(place)]!)
}

/** The values of the columns as text; decimals also without trailing zeros. */
export async function content(
  engine: Engine,
  schemas: readonly string[] = ['star', 'pii', 'history'],
): Promise<Content> {
  const exact = new Set<string>()
  const documents: string[] = []
  for (const { schema, name } of await filledTables(engine, schemas)) {
    for (const row of await engine.rows<Record<string, unknown>>(`select * from ${schema}."${name}"`)) {
      for (const value of Object.values(row)) {
        const text = String(value)
        exact.add(text)
        if (/^-?\d+\.\d+$/.test(text)) exact.add(String(Number(text)))
        if (text.startsWith('{') || text.startsWith('[')) documents.push(text)
      }
    }
  }
  return { exact, documents: documents.join('\n') }
}

export const notFound = (leaves: readonly Leaf[], { exact, documents }: Content): string[] =>
  leaves
    .filter(({ stored }) => stored !== undefined && !exact.has(stored) && !documents.includes(`"${stored}"`))
    .map(({ path, stored }) => `${path} = ${stored}`)

/** Booleans have no value of their own to look for: their columns must say true. */
export async function falseFlags(engine: Engine, resource: Resource): Promise<string[]> {
  const missing: string[] = []
  for (const table of tablesOf(resource.table)) {
    for (const [column, { type, source }] of Object.entries(table.columns)) {
      if (type !== 'boolean' || source.from !== 'field') continue
      const rows = await engine.rows(`select 1 as one from star."${table.name}" where "${column}"`)
      if (rows.length === 0) missing.push(`${table.name}.${column}`)
    }
  }
  return missing
}
