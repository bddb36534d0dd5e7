/** Compares the warehouse with the service while neither changes: rows, cells, and rows of lists inside records. */
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { ChildTable } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { ownerColumn } from '../../src/warehouse/schema/physical.ts'
import { liveRecords } from '../../src/warehouse/schema/record-rows.ts'
import { comparedChildren, comparedColumns, elementsOf, expectedCell, plain } from './cells.ts'
import type { ListName, ResourceName } from './scenario.ts'
import { readShownRecords, type ShownRecord } from './source.ts'

type WarehouseRow = Readonly<Record<string, unknown>>

export const resourceOf = (name: ResourceName): Resource => findResource(name) as Resource

const liveRows = (engine: Engine, resource: Resource): Promise<WarehouseRow[]> =>
  engine.rows<WarehouseRow>(`select * from ${liveRecords(resource)}`)

/** Ids in quarantine that have not been loaded since. */
async function quarantined(engine: Engine, { name }: Resource): Promise<Set<string>> {
  const rows = await engine.rows<{ id: string }>(
    'select distinct record_id as id from ops.quarantine where resource = $1 and resolved_at is null',
    [name],
  )
  return new Set(rows.map(({ id }) => id))
}

export function cellsThatDiffer(resource: Resource, record: ShownRecord, row: WarehouseRow): string[] {
  return comparedColumns(resource.table).flatMap(([name, column]) => {
    const [expected, stored] = [expectedCell(column, record), plain(column.type, row[name])]
    if (expected === stored) return []
    return [`${resource.name} ${record.id}: ${name} is ${stored}, in the service ${expected}`]
  })
}

async function childrenThatDiffer(engine: Engine, resource: Resource, records: readonly ShownRecord[]) {
  const differing: string[] = []
  for (const child of comparedChildren(resource)) {
    const stored = await countsByOwner(engine, resource, child)
    for (const record of records) {
      const expected = elementsOf(record, child).length
      const found = stored.get(String(record.id)) ?? 0
      if (found !== expected)
        differing.push(
          `${resource.name} ${record.id}: ${found} rows in ${child.table.name}, in the service ${expected}`,
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

/** Describes each difference of one list; empty if the warehouse equals the service. */
export async function differences(engine: Engine, url: string, name: ListName): Promise<string[]> {
  const resource = resourceOf(name)
  const records = await readShownRecords(url, resource)
  const rows = await liveRows(engine, resource)
  const byId = new Map(rows.map(row => [String(row[resource.table.key]), row]))
  const excused = await quarantined(engine, resource)
  const found: string[] = []
  if (byId.size < rows.length) found.push(`${name}: ${rows.length - byId.size} duplicate rows`)
  const loaded = records.filter(({ id }) => !excused.has(String(id)))
  for (const record of loaded) {
    const row = byId.get(String(record.id))
    if (row) found.push(...cellsThatDiffer(resource, record, row))
    else found.push(`${name} ${record.id}: not stored, and not in quarantine`)
  }
  const shownIds = new Set(records.map(({ id }) => String(id)))
  for (const id of byId.keys())
    if (!shownIds.has(id)) found.push(`${name} ${id}: stored, but not in the service`)
  return [...found, ...(await childrenThatDiffer(engine, resource, loaded))]
}
