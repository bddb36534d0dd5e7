/** Which rows a record has in star and pii, and what stands in each of their columns. */
import { expect, test } from 'vitest'
import { distinctOwners, targetsOf } from '../../../src/load/merge/targets.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { gauges, owners } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()
const at = '2026-03-02T09:00:00.000Z'
const fetched = '2026-03-20T09:00:00.000Z'

const gauge = {
  ...{
    id: 'g',
    kind: 'dial',
    status: 's',
    level: 1.5,
    owner: { id: 'u' },
    site: { id: 's' },
    remark: 'four',
    serial: 'n',
  },
  ...{ worker: { id: 'w', name: 'Ann' }, tag: { id: 't' }, createdAt: at, updatedAt: at, version: 3 },
  spec: { size: 2, email: 'x' },
  readings: [{ level: 7, reader: { id: 'r' }, signature: 'Ann' }, { level: 8 }],
  parts: [{ part: 'p', remark: 'two' }, { part: 'q' }],
  spares: [{ part: 'r' }],
}
const row = {
  ...{ source_updated_at: at, first_loaded_at: fetched, loaded_at: fetched, run_id: 'run-1' },
  ...{
    is_deleted: false,
    deleted_at: null,
    row_hash: expect.stringMatching(/^[0-9A-F]+-[0-9A-F]+$/),
    valid_from: at,
  },
}
const md5 = async (text: string) => (await warehouse.rows(`select md5('${text}') as key`))[0]?.key
const rows = (table: string, order: string) => warehouse.rows(`select * from ${table} order by ${order}`)

test('each row has its own columns, and the bookkeeping of its record', async () => {
  await warehouse.merge(gauges, [gauge], { at: fetched })
  expect(await rows(`star.fact_gauge where gauge_id = 'g'`, 'gauge_id')).toEqual([
    {
      ...{
        gauge_id: 'g',
        kind: 'dial',
        status: 's',
        level: '1.5000',
        owner_id: 'u',
        site_id: 's',
        worker_id: 'w',
      },
      ...{
        tag_id: 't',
        remark_length: 4,
        created_at: at,
        updated_at: at,
        version: 3,
        spec: '{"size":2,"email":"x"}',
      },
      ...row,
    },
  ])
  const reading = async (number: number, level: string, reader: string) => ({
    ...{
      gauge_reading_key: await md5(`g|${number}`),
      gauge_id: 'g',
      reading_ordinal: number,
      level,
      reader_id: reader,
    },
    ...row,
  })
  expect(await rows(`star.bridge_gauge_reading where gauge_id = 'g'`, 'reading_ordinal')).toEqual([
    await reading(1, '7.0000', 'r'),
    await reading(2, '8.0000', '-1'),
  ])
  const part = async (list: string, number: number, [name, length]: readonly [string, number | null]) => ({
    ...{
      gauge_part_key: await md5(`g|${list}|${number}`),
      gauge_id: 'g',
      list,
      part_ordinal: number,
      part: name,
    },
    ...{ remark_length: length, ...row },
  })
  expect(await rows(`star.bridge_gauge_part where gauge_id = 'g'`, 'list, part_ordinal')).toEqual([
    await part('parts', 1, ['p', 3]),
    await part('parts', 2, ['q', null]),
    await part('spares', 1, ['r', null]),
  ])
})

test('names of people are in a row of pii, where there are any', async () => {
  await warehouse.merge(gauges, [gauge, { ...gauge, id: 'h', serial: null }], { at: fetched })
  expect(await rows(`pii.gauge where gauge_id in ('g', 'h')`, 'gauge_id')).toEqual([
    { gauge_id: 'g', serial: 'n', ...row },
  ])
  expect(await rows(`pii.gauge_reading where gauge_id = 'h'`, '1')).toEqual([
    { gauge_reading_key: await md5('h|1'), gauge_id: 'h', signature: 'Ann', ...row },
  ])
})

test('every free text is a row of the PII table, with its place', async () => {
  const text = async (table: string, key: string, words: string) => ({
    ...{ text_key: await md5(`${table}|${key}|remark`), entity: 'gauge', record_id: 'i', table_name: table },
    ...{ row_key: key, column_name: 'remark', text: words, ...row },
  })
  await warehouse.merge(gauges, [{ ...gauge, id: 'i' }], { at: fetched })
  const found = await rows(`pii.text where record_id = 'i'`, 'table_name')
  expect(found).toEqual([
    await text('bridge_gauge_part', String(await md5('i|parts|1')), 'two'),
    await text('fact_gauge', 'i', 'four'),
  ])
})

test('a leaf without a column is in pii when it is personal, and else in star', async () => {
  const leaf = async (path: string, [value, type]: readonly [string, string]) => ({
    ...{
      attribute_leaf_key: await md5(`gauge|j|${path}`),
      entity: 'gauge',
      record_id: 'j',
      path,
      value_text: value,
    },
    ...{ value_type: type, ...row },
  })
  await warehouse.merge(gauges, [{ ...gauge, id: 'j' }], { at: fetched })
  expect(await rows(`star.attribute_leaf where record_id = 'j'`, 'path')).toEqual([
    await leaf('spec.size', ['2', 'number']),
  ])
  expect(await rows(`pii.attribute_leaf where record_id = 'j'`, 'path')).toEqual([
    await leaf('spec.email', ['x', 'text']),
  ])
})

test('a value that the contract does not list stays in star only as one word, and a listed one whatever it is', async () => {
  const kinds = ['dial', 'water level', 'new_kind', 'Ann Smith', null]
  await warehouse.merge(
    gauges,
    kinds.map((kind, index) => ({ ...gauge, id: `k${index}`, kind })),
  )
  const found = await rows(`star.fact_gauge where gauge_id like 'k%'`, 'gauge_id')
  expect(found.map(({ kind }) => kind)).toEqual(['dial', 'water level', 'new_kind', '(other)', null])
})

test('a record of a dimension is no inferred member', async () => {
  await warehouse.merge(owners, [{ id: 'read', name: 'Ann', jobTitle: 'x', createdAt: at, updatedAt: at }], {
    at: fetched,
  })
  expect(await rows(`star.dim_user where user_id = 'read'`, '1')).toMatchObject([
    { job_title: 'x', is_inferred: false, ...row },
  ])
  expect(await rows(`pii.user where user_id = 'read'`, '1')).toMatchObject([{ name: 'Ann', ...row }])
})

test('two lists of one table are written by one statement, and read from a stage each', () => {
  const targets = targetsOf(stagePlan(gauges))
  expect(targets.map(({ schema, name, stage }) => `${schema}.${name} ${stage}`)).toEqual([
    ...[
      'star.fact_gauge stage.stage_0',
      'star.bridge_gauge_reading stage.stage_1',
      'star.bridge_gauge_part stage.stage_2',
    ],
    ...['star.bridge_gauge_part stage.stage_3', 'pii.gauge stage.stage_0', 'pii.gauge_reading stage.stage_1'],
    ...['pii.text stage.stage_0', 'pii.text stage.stage_2', 'pii.text stage.stage_3'],
    ...['star.attribute_leaf stage_leaf', 'pii.attribute_leaf stage_leaf'],
  ])
  expect(distinctOwners(targets)).toHaveLength(9)
})
