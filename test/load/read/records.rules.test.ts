/** What becomes of the fields and lists of a record, whichever way its page is read. */
import { beforeAll, describe, expect, test } from 'vitest'
import { rulesStage, type StagedPages } from '../rules-stage.ts'
import { boxes, vessels } from './vessels.ts'

const stage = rulesStage()

const full = {
  ...{ id: 'v1', name: 'Ada', info: { label: 'l', crew: 3, engine: { power: 9 } }, level: 1.5, open: true },
  ...{ openedAt: '2026-03-01T09:00:00.000Z', seenOn: '31/12/2025', owner: { id: 'u', name: 'Ann' } },
  // As a double that is multiplied by 10 ** 8 it ends in 1.
  ...{ mass: 87653255.4, hull: { name: 'steel', field7: 'f7' } },
  ...{ photo: 'https://files/1.jpg?key=secret', spec: { a: 1 }, moved: 'fast', version: 7 },
  ...{ createdAt: '2026-02-01T09:00:00.000Z', updatedAt: '2026-03-02T09:00:00.000Z' },
  ...{ notes: [{ words: 'one' }, { words: 'two' }], flags: ['red', 'blue'] },
  decks: [
    { name: 'upper', field0: 'f0', cabins: [{ size: 1 }, { size: 2 }] },
    { name: 'lower', field7: 'f7', cabins: [] },
    { name: 'last', cabins: [{ size: 3 }] },
  ],
  routes: [{ steps: [{ port: 'a' }, { port: 'b' }] }, { steps: [] }, { steps: [{ port: 'c' }] }],
}
const bare = { id: 'v2', name: 'nameless' }
/** No type has room for it. */
const misfit = { id: 'v9', decks: 'none' }

const without = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(row).filter(([name]) => !/^(own_|list_|document_|o\d|locator$)/.test(name)),
  )
const rowsOf = async (name: string, order = 'all') =>
  (await stage.rows(`select * from stage.${name} order by ${order}`)).map(without)

const ways = [
  ['alone', []],
  ['beside a record of another structure', [misfit]],
] as const

describe.each(ways)('a record that is read %s', (_, beside) => {
  let staged: StagedPages
  beforeAll(async () => {
    const pages = [
      stage.pageOf([full, ...beside], { scope: { company_id: 'c1' } }),
      stage.pageOf([bare], { runId: 'run-2', fetchedAt: '2026-05-02T00:00:00.000Z' }),
    ]
    staged = await stage.stage(vessels, pages)
  })

  test('has a typed value in each column, and the time and run of its page', async () => {
    expect(staged).toMatchObject({ records: 2 + beside.length, newValues: [] })
    expect(staged.trouble).toHaveLength(beside.length)
    expect(await rowsOf('stage_0', 'vessel_id')).toEqual([
      {
        ...{ vessel_id: 'v1', company_id: 'c1', fleet: 'north', name: 'Ada', label: 'l', crew: 3 },
        ...{ mass: '87653255.40000000' },
        ...{ level: '1.5000', is_open: true, opened_at: '2026-03-01T09:00:00.000Z', seen_date: '2025-12-31' },
        ...{ twofold: '3.0000', fourfold: '6.0000', owner_id: 'u', owner_id__name: 'Ann', tag_id: 'Ada' },
        ...{ photo_url: 'https://files/1.jpg', spec: '{"a":1}', moved: 'fast', version: 7 },
        ...{ created_at: '2026-02-01T09:00:00.000Z', updated_at: '2026-03-02T09:00:00.000Z' },
        ...{ source_updated_at: '2026-03-02T09:00:00.000Z', source_updated_text: '2026-03-02T09:00:00.000Z' },
        ...{ source_version: 7, loaded_at: '2026-05-01T00:00:00.000Z', run_id: 'run-1' },
      },
      {
        ...{ vessel_id: 'v2', company_id: '-1', fleet: 'north', name: 'nameless', label: null, crew: null },
        ...{ mass: null },
        ...{ level: null, is_open: null, opened_at: null, seen_date: null, twofold: null, fourfold: null },
        ...{ owner_id: '-1', owner_id__name: null, tag_id: '-1', photo_url: null, spec: null, moved: null },
        ...{ version: null, created_at: null, updated_at: null, source_updated_at: null },
        ...{
          source_updated_text: null,
          source_version: null,
          loaded_at: '2026-05-02T00:00:00.000Z',
          run_id: 'run-2',
        },
      },
    ])
  })

  test('has positions only in the stages of lists that have lists of their own', async () => {
    const placed = await stage.rows(
      `select distinct table_name from duckdb_columns() where database_name like 'stage%' and regexp_full_match(column_name, 'o\\d')`,
    )
    expect(placed).toEqual([{ table_name: 'stage_5' }])
  })

  test('has a row per element of each list, in order, with what it repeats of the rows above', async () => {
    const tables = ['vessel', 'note', 'flag', 'engine', 'hull', 'deck', 'cabin', 'step']
    expect([...staged.filled].sort()).toEqual([...tables.map((_, n) => `stage.stage_${n}`), 'stage_leaf'])
    const md5 = (...parts: readonly (string | number)[]) => `md5('${parts.join('|')}')`
    const key = async (sql: string) => (await stage.rows(`select ${sql} as key`))[0]?.key
    expect(await rowsOf('stage_1', 'note_ordinal')).toEqual([
      { note_key: await key(md5('v1', 1)), vessel_id: 'v1', note_ordinal: 1, words: 'one' },
      { note_key: await key(md5('v1', 2)), vessel_id: 'v1', note_ordinal: 2, words: 'two' },
    ])
    expect(await rowsOf('stage_2', 'flag_ordinal')).toMatchObject([
      { vessel_id: 'v1', flag_ordinal: 1, flag: 'red' },
      { vessel_id: 'v1', flag_ordinal: 2, flag: 'blue' },
    ])
    expect(await rowsOf('stage_3')).toEqual([
      { vessel_engine_key: await key(md5('v1')), vessel_id: 'v1', power: 9 },
    ])
    expect(await rowsOf('stage_4')).toMatchObject([
      { vessel_id: 'v1', name: 'steel', field_0: null, field_7: 'f7' },
    ])
    expect(await rowsOf('stage_5', 'deck_ordinal')).toMatchObject([
      { vessel_id: 'v1', deck_ordinal: 1, name: 'upper', field_0: 'f0', field_7: null },
      { vessel_id: 'v1', deck_ordinal: 2, name: 'lower', field_0: null, field_7: 'f7' },
      { vessel_id: 'v1', deck_ordinal: 3, name: 'last', field_0: null },
    ])
    const cabin = { vessel_id: 'v1', home_id: 'v1', company_id: 'c1' }
    const deck = (n: number) => key(md5('v1', n))
    expect(await rowsOf('stage_6', 'size')).toMatchObject([
      { vessel_deck_key: await deck(1), ...cabin, cabin_ordinal: 1, size: '1.0000' },
      { vessel_deck_key: await deck(1), ...cabin, cabin_ordinal: 2, size: '2.0000' },
      { vessel_deck_key: await deck(3), ...cabin, cabin_ordinal: 1, size: '3.0000' },
    ])
    expect(await rowsOf('stage_7', 'port')).toMatchObject([
      { vessel_id: 'v1', route_ordinal: 1, step_ordinal: 1, port: 'a' },
      { vessel_id: 'v1', route_ordinal: 1, step_ordinal: 2, port: 'b' },
      { vessel_id: 'v1', route_ordinal: 3, step_ordinal: 1, port: 'c' },
    ])
  })
})

test('lists that are empty, missing or null in every record have no stage to be merged', async () => {
  const { filled } = await stage.stage(vessels, [
    stage.pageOf([{ ...bare, notes: [], flags: null, decks: [], routes: [{ steps: [] }] }]),
  ])
  expect([...filled]).toEqual(['stage.stage_0'])
  const asJson = await stage.stage(vessels, [
    stage.pageOf([{ ...bare, notes: [], flags: null, decks: [], routes: [{ steps: null }] }, misfit]),
  ])
  expect([...asJson.filled]).toEqual(['stage.stage_0'])
})

test('a record below data.entries, and one that is data itself, are read like one of a list', async () => {
  const names = async () => (await rowsOf('stage_0', 'vessel_id')).map(({ vessel_id: key }) => key)
  const entries = stage.page(JSON.stringify({ data: { entries: [full, bare] } }))
  expect((await stage.stage(vessels, [entries], 'data.entries')).records).toBe(2)
  expect(await names()).toEqual(['v1', 'v2'])
  await stage.stage(vessels, [stage.page(JSON.stringify({ data: full }))], 'data as one record')
  expect(await names()).toEqual(['v1'])
  const odd = stage.page(JSON.stringify({ data: { entries: [bare, misfit] } }))
  expect((await stage.stage(vessels, [odd], 'data.entries')).records).toBe(2)
  expect(await names()).toEqual(['v2'])
})

describe('a record with documents', () => {
  const box = {
    ...{ id: 'b1', contents: { label: 'l', of: { apples: 2 } }, marks: { b: 'x', a: [1, true], none: null } },
    lids: [
      { width: 2, colour: 'red', holes: [{ count: 1 }, { count: 2 }] },
      { width: 5, colour: 'blue', holes: [{ count: 4 }] },
      { width: 3, colour: 'red' },
    ],
  }

  test('has figures of its lists', async () => {
    await stage.stage(boxes, [stage.pageOf([box, { id: 'b2', lids: [] }, { id: 'b3' }])])
    const none = { widest: null, narrowest: null, hole_count: null, red_width: null, label: null }
    expect(await rowsOf('stage_0', 'box_id')).toMatchObject([
      {
        ...{
          box_id: 'b1',
          lid_count: 3,
          widest: '5.0000',
          narrowest: '2.0000',
          hole_count: 7,
          red_width: '5.0000',
        },
        label: 'l',
      },
      { box_id: 'b2', ...none },
      { box_id: 'b3', ...none, lid_count: null },
    ])
  })

  test('has the JSON of a document of which columns read parts, as the service sent it', async () => {
    const contents = { label: 'l', of: { apples: 2 }, none: null, list: [1.5, 'a'] }
    await stage.stage(boxes, [
      stage.pageOf([{ id: 'b1', contents }, { id: 'b2', contents: null }, { id: 'b3' }]),
    ])
    expect(await stage.rows('select box_id, contents, label from stage.stage_0 order by 1')).toEqual([
      { box_id: 'b1', contents: JSON.stringify(contents), label: 'l' },
      { box_id: 'b2', contents: null, label: null },
      { box_id: 'b3', contents: null, label: null },
    ])
  })

  test('has a row per leaf of a document whose keys are data, in the order of their paths', async () => {
    await stage.stage(boxes, [stage.pageOf([box, { id: 'b2', marks: {} }])])
    const rows = await rowsOf('stage_2', 'mark_ordinal')
    expect(rows.map(({ box_mark_key: _, ...row }) => row)).toEqual([
      { box_id: 'b1', mark_ordinal: 1, path: 'a[0]', value: '1', value_type: 'number' },
      { box_id: 'b1', mark_ordinal: 2, path: 'a[1]', value: 'true', value_type: 'boolean' },
      { box_id: 'b1', mark_ordinal: 3, path: 'b', value: 'x', value_type: 'text' },
    ])
  })

  test('has a row per value, object and element of its lists', async () => {
    const lists = {
      labels: ['red', 'blue'],
      maker: { trade: 'cooper' },
      crates: [{ slots: [] }, { slots: [{ size: 1 }, { size: 2 }] }],
    }
    const { filled } = await stage.stage(boxes, [
      stage.pageOf([
        { id: 'b1', ...lists },
        { id: 'b2', labels: null, maker: null, crates: [{ slots: null }] },
      ]),
    ])
    expect([...filled].sort()).toEqual([0, 3, 4, 5, 6].map(n => `stage.stage_${n}`))
    expect(await rowsOf('stage_3', 'label_ordinal')).toMatchObject([
      { box_id: 'b1', label_ordinal: 1, label: 'red' },
      { box_id: 'b1', label_ordinal: 2, label: 'blue' },
    ])
    expect(await rowsOf('stage_4')).toMatchObject([{ box_id: 'b1', trade: 'cooper' }])
    const rows = await stage.rows(
      'select c.box_id, crate_ordinal, slot_ordinal, size from stage.stage_6 s join stage.stage_5 c using (box_crate_key) order by size',
    )
    expect(rows).toEqual([
      { box_id: 'b1', crate_ordinal: 2, slot_ordinal: 1, size: 1 },
      { box_id: 'b1', crate_ordinal: 2, slot_ordinal: 2, size: 2 },
    ])
  })
})
