/** Every declared field of a record that is read by its id is found again in the warehouse, and only where it may be. */
import { expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { isCollection } from '../../src/contract/fields/resource.ts'
import type { Table } from '../../src/contract/fields/table.ts'
import { readById } from '../support/records-by-id.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { content, falseFlags, notFound, versionsOf } from './arrival.ts'
import { type Leaf, recordOf } from './full-record.ts'

const byId = catalogue.filter(resource => !isCollection(resource))

/** Paths whose values belong to the pii schema. */
function guarded(table: Table, at = ''): string[] {
  const own = Object.values(table.columns).flatMap(({ source, privacy }) =>
    source.from === 'field' && privacy !== 'open' ? [at + source.path.join('.')] : [],
  )
  const below = table.children.flatMap(({ lists, shape, table: rows }) =>
    guarded(rows, `${at}${lists.map(path => path.join('.')).join('[].')}${shape === 'single' ? '.' : '[].'}`),
  )
  return [...own, ...below]
}

describeOnEngines('read by id', bench => {
  test('every field arrives, also that of a version that was replaced, and only where it may be', async () => {
    const warehouse = await bench.warehouse()
    const versions = byId.map(resource => ({ resource, versions: versionsOf(resource) }))
    const leaves = versions.flatMap(one => one.versions.flat())
    for (const {
      resource,
      versions: [first, second],
    } of versions) {
      const load = (leaves: readonly Leaf[]) => readById(warehouse, resource, [recordOf(leaves)])
      expect(await load(first)).toMatchObject({ inserted: 1, quarantined: 0 })
      const drifted = 'select path from ops.schema_drift where resource = $1 and kind = $2'
      expect(await warehouse.engine.rows(drifted, [resource.name, 'unknown field'])).toEqual([
        { path: 'unheardOf' },
      ])
      expect(await load(second)).toMatchObject({ changed: 1, quarantined: 0 })
      expect(await load(second)).toMatchObject({ unchanged: 1 })
      expect(await load(first)).toMatchObject({ unchanged: 1 })
    }
    const found = await content(warehouse.engine)
    expect(notFound(leaves, found)).toEqual([])
    for (const resource of byId) expect(await falseFlags(warehouse.engine, resource)).toEqual([])

    const hidden = versions.flatMap(({ resource, versions: both }) => {
      const paths = guarded(resource.table)
      return both.flat().filter(({ path }) => paths.includes(path))
    })
    expect(hidden.length).toBeGreaterThan(60)
    expect(notFound(hidden, await content(warehouse.engine, ['star', 'history']))).toHaveLength(hidden.length)
    expect([...found.exact].filter(text => text.includes('token=planted'))).toEqual([])
  })
})
