/** What the catalogue as a whole promises: paths, events and tables of the contract, each in one place. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { byIdResources, catalogue, collections } from '../../src/contract/catalogue.ts'
import { eventRule, eventTypes } from '../../src/contract/events.ts'
import { singleRead } from '../../src/contract/fields/resource.ts'
import { tablesOf } from '../../src/contract/fields/table.ts'
import { operations } from '../../src/contract/operations.ts'
import { constantsOf } from '../../src/warehouse/schema/physical.ts'

test('every event type of the contract is about one resource, and is named for it', () => {
  const entities = catalogue.map(({ entity }) => entity)
  for (const type of eventTypes) {
    const { entity } = eventRule(type)
    expect(entities.filter(one => one === entity)).toHaveLength(1)
    expect(type.startsWith(`${entity}_`)).toBe(true)
  }
})

test('every read of one record asks for the parts that the contract adds on request', () => {
  for (const resource of catalogue) {
    const { path, query } = singleRead(resource) ?? {}
    if (path === undefined) continue
    const read = Object.values(operations).find(one => one.path === path)
    expect(read, path).toBeDefined()
    expect([path, Object.keys(read?.parameters ?? {}).sort()]).toEqual([
      path,
      Object.keys(query ?? {}).sort(),
    ])
  }
})

test.each(catalogue.flatMap(({ table }) => tablesOf(table)).map(table => [table.name, table] as const))(
  'star table %s and each of its columns are described',
  (_, { description, columns }) => {
    expect(description).toMatch(/^(One row per|At most one row).*\.$/)
    for (const [column, { description }] of Object.entries(columns))
      expect({ column, description }).toEqual({ column, description: expect.stringMatching(/\S.*\.$/) })
  },
)

test('where several resources fill one table, a constant in the key says whose a row is', () => {
  const fillers = new Map<string, Set<string>>()
  for (const { name, table: root } of catalogue)
    for (const table of tablesOf(root)) {
      fillers.set(table.name, (fillers.get(table.name) ?? new Set()).add(name))
      const { source } = table.columns[table.key] ?? {}
      const key = source?.from === 'derived' ? source.sql : JSON.stringify(source)
      const tells = constantsOf(table).some(([column]) => key.includes(column))
      // A key made of the key of the row above it says the same.
      const isBelow = /cast\(\w+_key as/.test(key)
      if (fillers.get(table.name)?.size === 1) continue
      expect([table.name, constantsOf(table).length > 0, tells || isBelow]).toEqual([table.name, true, true])
    }
  expect([...fillers].filter(([, names]) => names.size > 1).length).toBeGreaterThan(4)
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

const src = fileURLToPath(new URL('../../src/', import.meta.url))

/** Workers have trades and assignments too, a page of the dashboard says on which records it rests, and other words have a meaning here. */
const inWords = /^(app\/workers|dashboard\/pages)\/|^(api\/workers|lib\/text\/nearest)\.ts$/

test('no file but its own declaration names a resource that is read by id', () => {
  const names = new RegExp(`'(${byIdResources.map(({ name }) => name).join('|')})'`, 'g')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    file => file.endsWith('.ts') && !/^(contract|sandbox)\//.test(file) && !inWords.test(file),
  )
  const found = files.flatMap(file =>
    (readFileSync(join(src, file), 'utf8').match(names) ?? []).map(name => `${file}: ${name}`),
  )
  expect(found).toEqual([])
})

test('a kind of key reads by id only what has a read by id, and lists only what has a list', () => {
  for (const resource of catalogue)
    for (const way of Object.values(resource.keys)) {
      if (way === 'by id')
        expect([resource.name, singleRead(resource)?.path]).toEqual([
          resource.name,
          expect.stringContaining('{id}'),
        ])
      if (way === 'list') expect([resource.name, resource.read.strategy]).not.toEqual([resource.name, 'byId'])
    }
})
