/** In which tables the rows of new records and inferred members are looked for. */
import { beforeEach, describe, expect, test } from 'vitest'
import { ownsRows } from '../../../src/load/merge/apply.ts'
import { EmptyTables } from '../../../src/load/merge/empty-tables.ts'
import { distinctOwners, targetsOf } from '../../../src/load/merge/targets.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { qualified } from '../../../src/warehouse/schema/structure.ts'
import { gauges } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()
const plan = stagePlan(gauges)
const owners = distinctOwners(targetsOf(plan))
const places = [...new Set(owners.map(qualified))]

const put = (sql: string) => warehouse.engine.run(sql)

beforeEach(async () => {
  await put(places.map(place => `delete from ${place}`).join(';'))
})

test('every table of a resource is one place, where two lists share it one for each of them', () => {
  expect(owners.map(({ ownedBy, ...one }) => `${qualified(one)} ${ownedBy}`)).toEqual([
    'star."fact_gauge" t."gauge_id" = d.record_key',
    'star."bridge_gauge_reading" t."gauge_id" = d.record_key',
    `star."bridge_gauge_part" t."gauge_id" = d.record_key and t."list" = 'parts'`,
    `star."bridge_gauge_part" t."gauge_id" = d.record_key and t."list" = 'spares'`,
    'pii."gauge" t."gauge_id" = d.record_key',
    'pii."gauge_reading" t."gauge_id" = d.record_key',
    `pii."text" t.entity = 'gauge' and t.record_id = d.record_key`,
    `star."attribute_leaf" t.entity = 'gauge' and t.record_id = d.record_key`,
    `pii."attribute_leaf" t.entity = 'gauge' and t.record_id = d.record_key`,
  ])
})

describe('a resource owns rows', () => {
  test.each([
    ['none', '', false],
    ['its own', `insert into star.fact_gauge (gauge_id) values ('one')`, true],
    ['those of a list', `insert into star.bridge_gauge_part (list) values ('spares')`, true],
    ['those of a list of another kind', `insert into star.bridge_gauge_part (list) values ('other')`, false],
    ['restricted ones', `insert into pii.gauge (gauge_id) values ('one')`, true],
    ['a text', `insert into pii.text (entity) values ('gauge')`, true],
    ['a leaf', `insert into star.attribute_leaf (entity) values ('gauge')`, true],
    ['leaves of another resource', `insert into star.attribute_leaf (entity) values ('site')`, false],
  ])('%s', async (_, sql, expected) => {
    if (sql !== '') await put(sql)
    expect(await ownsRows(warehouse.engine, plan)).toBe(expected)
  })
})

describe('tables that had no row of the resource', () => {
  const others = async (tables: EmptyTables, areInferred = false) =>
    (await tables.others(warehouse.engine, owners, areInferred)).map(
      ({ kind, ...one }) => `${qualified(one)}${kind === 'true' ? '' : ` ${kind}`}`,
    )

  test('are left out, each kind of row by itself', async () => {
    await put(`insert into star.bridge_gauge_part (list) values ('spares')`)
    await put(`insert into star.attribute_leaf (entity) values ('site')`)
    await put(`insert into pii.text (entity) values ('gauge')`)
    expect(await others(new EmptyTables(plan))).toEqual([
      `star."bridge_gauge_part" t."list" = 'spares'`,
      `pii."text" t.entity = 'gauge'`,
    ])
  })

  test('are looked at once', async () => {
    const tables = new EmptyTables(plan)
    expect(await others(tables)).toEqual([])
    await put(`insert into pii.text (entity) values ('gauge')`)
    expect(await others(tables)).toEqual([])
    expect(await others(new EmptyTables(plan))).toEqual([`pii."text" t.entity = 'gauge'`])
  })

  test('may hold an inferred member all the same: in the tables of the record itself', async () => {
    expect(await others(new EmptyTables(plan), true)).toEqual(['star."fact_gauge"', 'pii."gauge"'])
  })
})

const gaugeWithReading = (id: string) => ({
  id,
  updatedAt: '2026-03-01T09:00:00.000Z',
  version: 1,
  readings: [{ level: 1 }],
})

/** Readings of a gauge after a load that finds one of an earlier load: one where it was replaced, else two. */
async function readingsAfterLoad(emptyTables?: EmptyTables): Promise<number> {
  await put(`insert into star.bridge_gauge_reading (gauge_id) values ('left')`)
  await warehouse.merge(gauges, [gaugeWithReading('left')], emptyTables ? { emptyTables } : {})
  const rows = await warehouse.rows(`select 1 from star.bridge_gauge_reading where gauge_id = 'left'`)
  await put(`delete from star.fact_gauge`)
  return rows.length
}

test('a load looks for rows of new records only in tables that had some, and without that knowledge in all', async () => {
  const known = new EmptyTables(plan)
  await known.others(warehouse.engine, owners, false)
  expect(await readingsAfterLoad(known), 'known to be empty').toBe(2)
  expect(await readingsAfterLoad(), 'without that knowledge').toBe(1)
  expect(await readingsAfterLoad(new EmptyTables(plan)), 'not looked at yet').toBe(1)
})
