/** Every declared field of every collection, sent with a distinct value, is found again in the warehouse. */
import { expect, test } from 'vitest'
import { collections } from '../../src/contract/catalogue.ts'
import type { Collection } from '../../src/contract/fields/resource.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { content, falseFlags, notFound, renamed, versionsOf } from './arrival.ts'
import { type Leaf, recordOf } from './full-record.ts'

function answer(resource: Collection, record: object, query: Readonly<Record<string, unknown>>) {
  if (resource.read.strategy === 'snapshot' && resource.read.rows !== 'data') {
    const data = resource.read.rows === 'data.entries' ? { entries: [record] } : record
    return JSON.stringify({ success: true, data })
  }
  const page = Number(query.page)
  const meta = { page, limit: Number(query.limit), total: 1 }
  return JSON.stringify({ success: true, data: page === 1 ? [record] : [], meta })
}

describeOnEngines('coverage', bench => {
  test('every field arrives, also that of a version that was replaced', async () => {
    const versions = new Map(collections.map(resource => [resource.name, versionsOf(resource)]))
    let version: 0 | 1 = 0
    let agencies: unknown[] | undefined
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path, query }) => {
        const resource = collections.find(one => one.path.replace('{company}', 'c1') === path)
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
      const resources = collections.map(({ name }) => name).filter(name => name !== 'key')
      const outcome = await syncOnce(sandbox, warehouse, { request: { resources } })
      expect(outcome.failure).toBeUndefined()
      expect(outcome.resources.map(({ state }) => state)).toEqual(resources.map(() => 'done'))
      agencies = []
      await syncOnce(sandbox, warehouse, { request: { resources: ['key'] } })
      expect(await engine.rows('select path, text, reason from ops.quarantine')).toEqual([])
      const found = await content(engine)
      for (const resource of collections) {
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
      expect([...found.exact].filter(text => text.includes('token=planted'))).toEqual([])
    }
    expect(before.length).toBeGreaterThan(500)
  })
})
