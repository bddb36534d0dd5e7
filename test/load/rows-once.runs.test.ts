/** A record is written as a whole: what is stored of it goes first, also where its own row was removed by hand. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import { distinctOwners, targetsOf } from '../../src/load/merge/targets.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { isMember, physicalTables, piiColumns } from '../../src/warehouse/schema/physical.ts'
import { loadOnce } from '../support/loaded-pages.ts'
import { tables } from '../support/warehouse-dump.ts'
import { useEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { versionsOf } from './arrival.ts'
import { recordOf } from './full-record.ts'

let pages = 0

async function read({ engine, landing }: Warehouse, resource: Resource, record: object) {
  mkdirSync(landing, { recursive: true })
  pages += 1
  const rows = rowsAt(resource)
  const data = rows === 'data' ? [record] : rows === 'data.entries' ? { entries: [record] } : record
  const body = JSON.stringify({ success: true, data })
  const file = join(landing, `page-${pages}.json`)
  writeFileSync(file, body)
  const fetchedAt = new Date(Date.UTC(2026, 10, 2, 9, 0, pages)).toISOString()
  const scope = { api_key_id: 'k1', company_id: 'c1', project_id: 'p1' }
  const page = { file, bytes: body.length, fetchedAt, runId: 'run-1', scope }
  return loadOnce(engine, resource, { pages: [page], rows })
}

/** Every list has the first version's element and the second's, whose ids differ. */
function fullRecord(resource: Resource): object {
  const [first, second] = versionsOf(resource).map(recordOf) as [object, object]
  const joined = (one: unknown, other: unknown): unknown => {
    if (Array.isArray(one)) return [...one, ...(Array.isArray(other) ? other : [])]
    if (one === null || typeof one !== 'object') return one
    return Object.fromEntries(
      Object.entries(one).map(([key, value]) => [key, joined(value, Object(other)[key])]),
    )
  }
  return joined(first, second) as object
}

/** What is done by hand to the rows of a record. */
interface Tampering {
  readonly name: string
  readonly isPossible: (resource: Resource) => boolean
  readonly statements: (resource: Resource, id: string) => readonly string[]
}

const ownRow = ({ table }: Resource): string =>
  isMember(table) ? `where ${table.key} <> '-1' and not is_inferred` : 'where true'
const withoutRow = (resource: Resource) => `delete from star.${resource.table.name} ${ownRow(resource)}`
const withoutPii = ({ table }: Resource) => `delete from pii.${table.piiTable}`
/** As the crosscheck leaves the row of a record that differs. */
const distrusted = (resource: Resource) =>
  `update star.${resource.table.name} set row_hash = '' ${ownRow(resource)}`

const hasPii = ({ table }: Resource): boolean => piiColumns(table).length > 0

interface Rows {
  /** As it follows `from`, with the condition for rows of the record. */
  readonly from: string
  readonly table: string
}

const isUnique = new Map(
  physicalTables.filter(({ schema }) => schema === 'star').map(one => [one.name, one.isUnique]),
)

/** The rows of its lists, of a record with this id: other resources may fill the same tables. */
const listsOf = (resource: Resource, id: string): Rows[] =>
  distinctOwners(targetsOf(stagePlan(resource)))
    .filter(({ schema, name }) => schema === 'star' && name !== resource.table.name)
    .map(({ name, ownedBy }) => ({
      table: name,
      from: `star.${name} as t where ${ownedBy.replace('d.record_key', `'${id}'`)}`,
    }))

/** Of lists whose keys the engines do not keep unique. */
const doublesOf = (resource: Resource, id: string): Rows[] =>
  listsOf(resource, id).filter(({ table }) => isUnique.get(table) === false)

const tamperings: readonly Tampering[] = [
  { name: 'its own row is missing', isPossible: () => true, statements: one => [withoutRow(one)] },
  {
    name: 'its own row and its PII row are missing',
    isPossible: hasPii,
    statements: one => [withoutRow(one), withoutPii(one)],
  },
  {
    name: 'its own row is missing, and is an inferred member again',
    isPossible: ({ table }) => isMember(table),
    statements: one => [`update star.${one.table.name} set is_inferred = true ${ownRow(one)}`],
  },
  {
    name: 'it differs, and rows of its lists are missing',
    isPossible: () => true,
    statements: (one, id) => [distrusted(one), ...listsOf(one, id).map(({ from }) => `delete from ${from}`)],
  },
  {
    name: 'it differs, and its PII row is missing',
    isPossible: hasPii,
    statements: one => [distrusted(one), withoutPii(one)],
  },
  {
    name: 'its own row is missing, and rows of its lists are stored twice',
    isPossible: () => true,
    statements: (one, id) => [
      withoutRow(one),
      ...doublesOf(one, id).map(({ table, from }) => `insert into star.${table} select * from ${from}`),
    ],
  },
]

const made = useEngines()

describe.each(Object.entries(made))('rows of a record are there once (%s)', (_, warehouse) => {
  test('whatever was done to them by hand, when it is read again', { timeout: 240_000 }, async () => {
    const one = await warehouse()
    const wrong: unknown[] = []
    for (const resource of catalogue) {
      const record = fullRecord(resource)
      await read(one, resource, record)
      const [row] = await one.engine.rows<{ id: string }>(
        `select ${resource.table.key} as id from star.${resource.table.name} ${ownRow(resource)}`,
      )
      const written = targetsOf(stagePlan(resource)).map(({ schema, name }) => `${schema}.${name}`)
      const before = await tables(one.engine, written)
      for (const { name, isPossible, statements } of tamperings) {
        if (!isPossible(resource)) continue
        for (const sql of statements(resource, row?.id ?? ''))
          expect([sql, await one.engine.run(sql)]).not.toEqual([sql, 0])
        const { inserted, changed } = await read(one, resource, record)
        const after = await tables(one.engine, written)
        const differing = written.filter(
          table => JSON.stringify(after[table]) !== JSON.stringify(before[table]),
        )
        if (inserted + changed !== 1 || differing.length > 0)
          wrong.push({ resource: resource.name, name, inserted, changed, differing })
      }
    }
    expect(wrong).toEqual([])
  })
})
