/** Every declared field of every resource, sent with a distinct value, is found again in the warehouse. */
import { expect, test } from 'vitest'
import { catalogue } from '../../src/resources/catalogue.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { tablesOf } from '../../src/resources/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { physicalTables } from '../../src/warehouse/physical.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from './fixture.ts'
import { type Leaf, leavesOf, recordOf } from './full-record.ts'

/** The ids that must not change between two versions, as they say which record it is. */
const identity: Readonly<Record<string, readonly string[]>> = {
  key: [],
  'metric-rows': ['reqRef', 'supplier'],
  'competency-matrix': ['trade.id', 'project.id', 'sector.id', 'source'],
}

/** What these say of things that are known by reference only: the newest name stands, earlier ones are no version. */
const renamed: Readonly<Record<string, readonly string[]>> = {
  'user-assignments': ['name', 'email'],
  'user-permissions': ['name', 'email'],
  'competency-matrix': ['trade.name', 'project.name', 'sector.name'],
}

function versionsOf(resource: Resource, number: number): readonly [Leaf[], Leaf[]] {
  const fixed = new Set(identity[resource.name] ?? ['id'])
  const first = leavesOf(resource, number * 200)
  const second = leavesOf(resource, number * 200 + 4000).map(leaf =>
    fixed.has(leaf.path) ? first.find(({ path }) => path === leaf.path)! : leaf,
  )
  return [first, second]
}

function answer(resource: Resource, record: object, query: Readonly<Record<string, unknown>>) {
  if (resource.read.strategy === 'snapshot' && resource.read.rows !== 'data') {
    const data = resource.read.rows === 'data.entries' ? { entries: [record] } : record
    return JSON.stringify({ success: true, data })
  }
  const page = Number(query.page)
  const meta = { page, limit: Number(query.limit), total: 1 }
  return JSON.stringify({ success: true, data: page === 1 ? [record] : [], meta })
}

interface Content {
  readonly exact: ReadonlySet<string>
  readonly documents: string
}

/** What stands in the columns: as text, and decimals also without the zeros that pad them. */
async function content(engine: Engine): Promise<Content> {
  const exact = new Set<string>()
  const documents: string[] = []
  for (const { schema, name } of physicalTables) {
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

const notFound = (leaves: readonly Leaf[], { exact, documents }: Content): string[] =>
  leaves
    .filter(({ stored }) => stored !== undefined && !exact.has(stored) && !documents.includes(`"${stored}"`))
    .map(({ path, stored }) => `${path} = ${stored}`)

/** Booleans have no value of their own to look for: their columns must say true. */
async function falseFlags(engine: Engine, resource: Resource): Promise<string[]> {
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

describeOnEngines('coverage', bench => {
  test('every field arrives, also that of a version that was replaced', async () => {
    const versions = new Map(catalogue.map((resource, index) => [resource.name, versionsOf(resource, index)]))
    let version: 0 | 1 = 0
    let agencies: unknown[] | undefined
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path, query }) => {
        const resource = catalogue.find(one => one.path.replace('{company}', 'c1') === path)
        if (!resource) return undefined
        const record = recordOf(versions.get(resource.name)![version])
        // A key that lists agencies is an agency's, which may read next to nothing.
        const me = { ...record, companies: [{ id: 'c1', name: 'Company 1' }], agencies: agencies ?? [] }
        return { status: 200, body: answer(resource, path === '/me' && !agencies ? me : record, query) }
      },
    })
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const before: Leaf[] = []
    for (version of [0, 1] as const) {
      agencies = undefined
      const resources = catalogue.map(({ name }) => name).filter(name => name !== 'key')
      const outcome = await syncOnce(sandbox, warehouse, { request: { resources } })
      expect(outcome.failure).toBeUndefined()
      expect(outcome.resources.map(({ state }) => state)).toEqual(resources.map(() => 'done'))
      agencies = []
      await syncOnce(sandbox, warehouse, { request: { resources: ['key'] } })
      expect(await engine.rows('select path, text, reason from ops.quarantine')).toEqual([])
      const found = await content(engine)
      for (const resource of catalogue) {
        const leaves = versions.get(resource.name)![version]
        const flags = await falseFlags(engine, resource)
        expect({ resource: resource.name, missing: notFound(leaves, found), flags }).toEqual({
          resource: resource.name,
          missing: [],
          flags: [],
        })
      }
      expect(notFound(before, found)).toEqual([])
      for (const [name, [first]] of versions)
        before.push(...first.filter(({ path }) => !renamed[name]?.includes(path)))
      expect([...found.exact].filter(text => text.includes('token=canary'))).toEqual([])
    }
    expect(before.length).toBeGreaterThan(500)
  })
})
