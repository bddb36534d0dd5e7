/** The warehouse beside the source, when both are at rest: rows, cells and rows of lists inside records. */
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { ChildTable } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { ownerColumn } from '../../src/warehouse/schema/physical.ts'
import { liveRecords } from '../../src/warehouse/schema/record-rows.ts'
import { comparedChildren, comparedColumns, elementsOf, expectedCell, plain } from './cells.ts'
import type { ListName, ResourceName } from './climate.ts'
import { type Shown, shownRecords } from './source.ts'

type Row = Readonly<Record<string, unknown>>

export const resourceOf = (name: ResourceName): Resource => findResource(name) as Resource

const liveRows = (engine: Engine, resource: Resource): Promise<Row[]> =>
  engine.rows<Row>(`select * from ${liveRecords(resource)}`)

/** Ids that quarantine names and that were not loaded since. */
async function quarantined(engine: Engine, { name }: Resource): Promise<Set<string>> {
  const rows = await engine.rows<{ id: string }>(
    'select distinct record_id as id from ops.quarantine where resource = $1 and resolved_at is null',
    [name],
  )
  return new Set(rows.map(({ id }) => id))
}

export function cellsThatDiffer(resource: Resource, record: Shown, row: Row): string[] {
  return comparedColumns(resource.table).flatMap(([name, column]) => {
    const [expected, stored] = [expectedCell(column, record), plain(column.type, row[name])]
    if (expected === stored) return []
    return [`${resource.name} ${record.id}: ${name} is ${stored}, at the source ${expected}`]
  })
}

async function childrenThatDiffer(engine: Engine, resource: Resource, records: readonly Shown[]) {
  const differing: string[] = []
  for (const child of comparedChildren(resource)) {
    const stored = await countsByOwner(engine, resource, child)
    for (const record of records) {
      const expected = elementsOf(record, child).length
      const found = stored.get(String(record.id)) ?? 0
      if (found !== expected)
        differing.push(
          `${resource.name} ${record.id}: ${found} rows in ${child.table.name}, at the source ${expected}`,
        )
    }
  }
  return differing
}

async function countsByOwner(
  engine: Engine,
  { table }: Resource,
  child: ChildTable,
): Promise<Map<string, number>> {
  const owner = ownerColumn(child.table, table)
  const rows = await engine.rows<{ id: string; n: string }>(
    `select "${owner}" as id, count(*) as n from star."${child.table.name}" where not is_deleted group by 1`,
  )
  return new Map(rows.map(({ id, n }) => [id, Number(n)]))
}

/** What differs for one list, in words; nothing when the warehouse holds the source. */
export async function differences(engine: Engine, url: string, name: ListName): Promise<string[]> {
  const resource = resourceOf(name)
  const records = await shownRecords(url, resource)
  const rows = await liveRows(engine, resource)
  const byId = new Map(rows.map(row => [String(row[resource.table.key]), row]))
  const excused = await quarantined(engine, resource)
  const found: string[] = []
  if (byId.size < rows.length) found.push(`${name}: ${rows.length - byId.size} rows twice`)
  const loaded = records.filter(({ id }) => !excused.has(String(id)))
  for (const record of loaded) {
    const row = byId.get(String(record.id))
    if (row) found.push(...cellsThatDiffer(resource, record, row))
    else found.push(`${name} ${record.id}: lost, and nothing says so`)
  }
  const there = new Set(records.map(({ id }) => String(id)))
  for (const id of byId.keys()) if (!there.has(id)) found.push(`${name} ${id}: stored, but not at the source`)
  return [...found, ...(await childrenThatDiffer(engine, resource, loaded))]
}
