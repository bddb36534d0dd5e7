/** Records beyond their limits go to quarantine with the cause, and the other records of their list load. */
import { expect, test } from 'vitest'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const at = '2026-03-01T09:00:00.000Z'
const record = (id: string, ...members: string[]) =>
  `{${[`"id":"${id}"`, ...members, `"updatedAt":"${at}"`, `"createdAt":"${at}"`].join(',')}}`
const request = { resources: ['timesheets'] }

describeOnEngines('a record', bench => {
  test('that is too large, too deep or too manifold goes to quarantine with the cause', async () => {
    const warehouse = await bench.warehouse()
    const many = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `"${prefix}${index}":1`)
    const list = await oneList('/timesheets', [
      record('good', ...many('a', 5)),
      record('large', `"note":"${'x'.repeat(70_000)}"`),
      record('deep', `"a0":${'['.repeat(30)}${']'.repeat(30)}`),
      record('fields', ...many('a', 21)),
      record('leaves', `"a0":[${'1,'.repeat(30)}1]`),
      record('same', ...many('a', 5)),
      record('others', ...many('b', 8)),
      record('numbers', '"netHours":"1"'),
      `{"id":"${'9'.repeat(100_000)}","updatedAt":"${at}","createdAt":"${at}"}`,
    ])
    const limits = { bytes: 66_000, depth: 20, fields: 20, paths: 10 }
    const connection = { limits, tolerance: { records: 100, percent: 100 } }
    const { failure } = await syncOnce(list, warehouse, { request, connection })
    expect(failure).toBeUndefined()
    const refused = await warehouse.engine.rows<{ id: string; reason: string; size: number }>(
      'select record_id as id, reason, length(payload) as size from ops.quarantine',
    )
    expect(Object.fromEntries(refused.map(({ id, reason }) => [String(id), reason]))).toEqual({
      large: 'larger than 66000 bytes',
      deep: 'nested deeper than 20 levels',
      fields: 'more than 20 undeclared fields',
      leaves: 'more than 20 leaves in undeclared fields',
      others: 'more than 10 undeclared paths in all records',
      // Its id is none.
      null: 'larger than 66000 bytes',
    })
    expect(refused.every(({ size }) => Number(size) <= 65_536)).toBe(true)
    const [stored] = await warehouse.engine.rows<{ n: number }>(
      'select count(*) as n from star.fact_timesheet',
    )
    expect(Number(stored?.n)).toBe(3)
  })

  test('with a key that may be data shows it in pii only', async () => {
    const warehouse = await bench.warehouse()
    const named = `"worker":{"id":"w1","Jane Doe":1,"jane@example.com":{"pay":2}},"netHours":"7.5"`
    const list = await oneList('/timesheets', [record('r1', named)])
    expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
    const { engine } = warehouse
    expect(
      await engine.rows('select path, kind, example_type as type from ops.schema_drift order by 1'),
    ).toEqual([
      { path: 'netHours', kind: 'other form', type: 'string' },
      { path: 'worker.*', kind: 'unknown field', type: expect.any(String) },
    ])
    expect(await engine.rows('select path from star.attribute_leaf')).toEqual([])
    expect(await engine.rows('select path from pii.attribute_leaf order by 1')).toHaveLength(2)
  })
})
