/** What the catalogue as a whole promises: paths, events and tables of the contract, each in one place. */
import { expect, test } from 'vitest'
import { catalogue, collections } from '../../src/resources/catalogue.ts'
import { singleRead } from '../../src/resources/resource.ts'
import { tablesOf } from '../../src/resources/table.ts'

const words = (prefix: string, names: string): string[] => names.split(' ').map(name => `${prefix}_${name}`)

/** Section 6 of the contract. */
const events: Readonly<Record<string, readonly string[]>> = {
  requisitions: words(
    'requisition',
    'created approved received cancelled filled worker_submitted worker_rejected assigned',
  ),
  assignments: words(
    'assignment',
    'created confirmed cancelled reinstated ended dates_updated rates_updated shift_updated trade_updated',
  ),
  timesheets: words(
    'timesheet',
    'approval_requested approved cancelled unapproved amended deleted marked_absent',
  ),
  expenses: words('expense', 'created rejected approved amended deleted'),
  invoices: words('invoice', 'created paid'),
  'credit-notes': words('credit_note', 'processed created'),
  'purchase-orders': words('purchase_order', 'created amended expired deleted'),
  trades: words('trade', 'amended created disabled'),
  rates: words('rate', 'created amended'),
}

test('every event type of the contract names one resource', () => {
  const declared = catalogue.filter(resource => resource.events.length > 0)
  const sorted = (lists: readonly [string, readonly string[]][]) =>
    Object.fromEntries(lists.map(([name, types]) => [name, [...types].sort()]))
  expect(sorted(declared.map(resource => [resource.name, resource.events]))).toEqual(
    sorted(Object.entries(events)),
  )
  expect(new Set(catalogue.flatMap(resource => resource.events)).size).toBe(42)
  for (const { entity, events: types } of declared)
    for (const type of types) expect(type.startsWith(`${entity}_`)).toBe(true)
})

test('every read of one record by its id', () => {
  const reads = catalogue.flatMap(resource => {
    const read = singleRead(resource)
    return read ? [[read.path, Object.keys(read.query).sort()]] : []
  })
  expect(Object.fromEntries(reads)).toEqual({
    '/companies/{id}': ['includeConfig'],
    '/projects/{id}': ['includeConfig'],
    '/sites/{id}': [],
    '/expenses/{id}': [],
    '/requisitions/{id}': ['includeStageTracking'],
    '/assignments/{id}': [],
    '/trades/{id}': ['includeCompetencyMatrix', 'includeRates'],
    '/rates/{id}': [],
    '/credit-notes/{id}': [],
    '/purchase-orders/{id}': [],
  })
})

test('names and entities are unique, and no collection asks for an id', () => {
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length)
  expect(new Set(catalogue.map(({ entity }) => entity)).size).toBe(catalogue.length)
  for (const { path } of collections) expect(path).not.toContain('{id}')
})

test('records that share a table declare the same columns for it', () => {
  const tables = catalogue.flatMap(({ table }) => tablesOf(table))
  const columnsOf = ({ columns }: (typeof tables)[number]) =>
    Object.entries(columns)
      .map(([column, { type, privacy }]) => `${column} ${type} ${privacy}`)
      .sort()
  for (const table of tables) {
    const first = tables.find(({ name }) => name === table.name)
    expect({ name: table.name, columns: columnsOf(table) }).toEqual({
      name: table.name,
      columns: first && columnsOf(first),
    })
  }
})
