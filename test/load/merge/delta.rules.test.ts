/** What the merge does with each record, decided from its staged and its stored row. */
import { beforeAll, expect, test } from 'vitest'
import { constant, id, integer, oneOf } from '../../../src/contract/fields/column.ts'
import { type Resource, resource } from '../../../src/contract/fields/resource.ts'
import { dimension, fact } from '../../../src/contract/fields/table.ts'
import { type CompleteSnapshot, createDelta, sendRecords, writeKind } from '../../../src/load/merge/delta.ts'
import { lossesOf, TooManyRemoved } from '../../../src/load/merge/losses.ts'
import type { Transfer } from '../../../src/warehouse/engine.ts'
import { createTables, gauges } from '../gauges.ts'
import { rulesStage } from '../rules-stage.ts'

const stage = rulesStage()

const column = oneOf('kind', [], 'Kind.')
const read = { strategy: 'scan' } as const
const about = { description: 'Of the tests.', path: '/', read, updatedAt: 'updatedAt' }
const dials = resource({
  ...{ ...about, name: 'dials', entity: 'dial', version: 'version' },
  table: fact('dial', 'One row per dial.', {
    dial_id: id('id', 'Id.'),
    kind: column,
    fleet: constant('north', 'Fleet.'),
    edition: integer('version', 'Version.'),
  }),
})
/** A dimension, without versions. */
const sites = resource({
  ...{ ...about, name: 'sites', entity: 'site' },
  table: dimension('site', 'One row per site.', { site_id: id('id', 'Id.'), kind: column }),
})

interface Row {
  readonly kind?: string
  readonly hash?: string
  readonly updated?: string | null
  readonly version?: number | null
  readonly loaded?: string
  readonly first?: string
  readonly from?: string | null
  readonly deleted?: string | null
  readonly isInferred?: boolean
}

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')} 09:00:00+00`
const text = (value: string | null): string => (value === null ? 'null' : `'${value}'`)

/** Its version has no column. */
const bare: Resource = { ...sites, version: 'version' }

async function store(one: Resource, rows: Readonly<Record<string, Row | undefined>>): Promise<void> {
  const { key, name } = one.table
  const isSite = one.table === sites.table
  const values = Object.entries(rows).flatMap(([name, row]) => {
    if (!row) return []
    const { hash = 'a-1', updated = day(10), loaded = day(10), from = updated, kind = null } = row
    const { version = 1, first = day(1), deleted, isInferred = false } = row
    const own = isSite ? `${isInferred}` : `${version}`
    const times = [updated, first, loaded, from, deleted ?? null].map(text).join(', ')
    return [`(${text(name)}, ${text(kind)}, ${own}, '${hash}', ${times}, ${deleted !== undefined})`]
  })
  await stage.engine.run(`delete from star.${name}`)
  await stage.engine.run(
    `insert into star.${name} (${key}, kind, ${isSite ? 'is_inferred' : 'edition'}, row_hash, source_updated_at,
      first_loaded_at, loaded_at, valid_from, deleted_at, is_deleted) values ${values.join(', ')}`,
  )
}

async function arrive(rows: Readonly<Record<string, Row | undefined>>): Promise<void> {
  const values = Object.entries(rows).flatMap(([name, row], index) => {
    if (!row) return []
    const { hash = 'a-1', updated = day(10), version = 1, loaded = day(10) } = row
    return [`(${index}, ${text(name)}, '${hash}', ${text(updated)}, ${version}, '${loaded}', 'run-2')`]
  })
  await stage.engine.run(`create or replace temp table stage_record (locator bigint, record_key text, row_hash text,
    source_updated_at timestamptz, source_version bigint, loaded_at timestamptz, run_id text)`)
  if (values.length > 0) await stage.engine.run(`insert into stage_record values ${values.join(', ')}`)
}

const records: Transfer = { items: [], files: [], sent: Promise.resolve(), discard() {} }

type Case = readonly [string, Row | undefined, Row | undefined, unknown]

const inPlace = (cases: readonly Case[], place: 1 | 2): Readonly<Record<string, Row | undefined>> =>
  Object.fromEntries(cases.map(one => [one[0], one[place]]))

/** What becomes of each case, by its sentence. */
async function decided(one: Resource, cases: readonly Case[], value = 'state') {
  await store(one, inPlace(cases, 1))
  await arrive(inPlace(cases, 2))
  await createDelta(stage.engine, one, { records })
  const rows = await stage.rows(`select record_key, cast(${value} as varchar) as value from delta`)
  return Object.fromEntries(rows.map(({ record_key: key, value: found }) => [key, found]))
}

const expected = (cases: readonly Case[]) => Object.fromEntries(cases.map(one => [one[0], one[3]]))

beforeAll(async () => {
  await stage.engine.run('create schema star; create schema pii; create schema history')
  await createTables(stage.engine, dials.table)
  await createTables(stage.engine, sites.table)
})

test('the later updatedAt decides, then the greater version, then the later fetch', async () => {
  const cases: readonly Case[] = [
    ['not stored', undefined, {}, 'new'],
    ['equal', {}, {}, 'same'],
    ['equal and fetched earlier', {}, { loaded: day(9) }, 'same'],
    ['equal and of an earlier time', {}, { updated: day(9) }, 'same'],
    ['other content, later', {}, { hash: 'b-1', updated: day(11) }, 'changed'],
    ['other content, earlier', {}, { hash: 'b-1', updated: day(9), loaded: day(11) }, 'stale'],
    ['later with a smaller version', { version: 2 }, { hash: 'b-1', updated: day(11) }, 'changed'],
    ['earlier with a greater version', {}, { hash: 'b-1', updated: day(9), version: 2 }, 'stale'],
    ['same time, greater version', {}, { hash: 'b-1', version: 2, loaded: day(9) }, 'changed'],
    ['same time, smaller version', { version: 2 }, { hash: 'b-1', loaded: day(11) }, 'stale'],
    ['same time and version, fetched later', {}, { hash: 'b-1', loaded: day(11) }, 'changed'],
    ['same time and version, fetched at once', {}, { hash: 'b-1' }, 'changed'],
    ['same time and version, fetched earlier', {}, { hash: 'b-1', loaded: day(9) }, 'stale'],
    ['no versions, later', { version: null }, { hash: 'b-1', version: null, loaded: day(11) }, 'changed'],
    ['no versions, earlier', { version: null }, { hash: 'b-1', version: null, loaded: day(9) }, 'stale'],
    [
      'a version where none was, fetched earlier',
      { version: null },
      { hash: 'b-1', loaded: day(9) },
      'changed',
    ],
    [
      'no time, fetched earlier',
      { updated: null },
      { hash: 'b-1', updated: null, loaded: day(9) },
      'changed',
    ],
  ]
  expect(await decided(dials, cases)).toEqual(expected(cases))
})

test('without versions the order of fetching decides between equal times', async () => {
  const cases: readonly Case[] = [
    ['fetched later', {}, { hash: 'b-1', loaded: day(11) }, 'changed'],
    ['fetched at once', {}, { hash: 'b-1' }, 'changed'],
    ['fetched earlier', {}, { hash: 'b-1', loaded: day(9) }, 'stale'],
    ['a staged version counts for nothing', {}, { hash: 'b-1', version: 0, loaded: day(9) }, 'stale'],
  ]
  expect(await decided(sites, cases)).toEqual(expected(cases))
  expect(await decided(bare, cases)).toEqual(expected(cases))
})

test('a stored time more than a day ahead of its fetch gives way to an earlier one', async () => {
  const earlier = { hash: 'b-1', updated: day(2) }
  const cases: readonly Case[] = [
    ['a day ahead', { updated: day(13) }, { ...earlier, loaded: day(12) }, 'stale'],
    [
      'more than a day',
      { updated: '2026-03-13 09:00:00.001+00' },
      { ...earlier, loaded: day(12) },
      'changed',
    ],
    ['but fetched earlier', { updated: day(20), loaded: day(12) }, { ...earlier, loaded: day(11) }, 'stale'],
    ['but fetched at once', { updated: day(20), loaded: day(12) }, { ...earlier, loaded: day(12) }, 'stale'],
    ['fetched later', { updated: day(20), loaded: day(12) }, { ...earlier, loaded: day(13) }, 'changed'],
  ]
  expect(await decided(dials, cases)).toEqual(expected(cases))
})

test('the same content with other bookkeeping is touched; a stale one stays stale', async () => {
  const cases: readonly Case[] = [
    ['later', {}, { hash: 'a-2', updated: day(11) }, 'touched'],
    ['at the same time', {}, { hash: 'a-2' }, 'touched'],
    ['earlier', {}, { hash: 'a-2', updated: day(9) }, 'stale'],
    ['other content with the same bookkeeping', {}, { hash: 'b-1' }, 'changed'],
  ]
  expect(await decided(dials, cases)).toEqual(expected(cases))
})

test('only a page fetched after a record was found missing brings it back', async () => {
  const later = { hash: 'b-1', updated: day(20) }
  const cases: readonly Case[] = [
    ['fetched before', { deleted: day(12) }, { ...later, loaded: day(11) }, 'stale'],
    ['fetched at that time', { deleted: day(12) }, { ...later, loaded: day(12) }, 'stale'],
    ['fetched after', { deleted: day(12) }, { ...later, loaded: day(13) }, 'changed'],
    ['equal, fetched before', { deleted: day(12) }, { loaded: day(11) }, 'stale'],
    ['equal, fetched after', { deleted: day(12) }, { loaded: day(13) }, 'changed'],
    ['older, fetched after', { deleted: day(12) }, { updated: day(2), loaded: day(13) }, 'changed'],
    ['at no known time, fetched with it', { deleted: null }, { ...later, loaded: day(10) }, 'stale'],
    ['at no known time, fetched later', { deleted: null }, { ...later, loaded: day(11) }, 'changed'],
  ]
  expect(await decided(dials, cases)).toEqual(expected(cases))
})

test('an inferred member takes the first record that comes, whatever its time', async () => {
  const cases: readonly Case[] = [
    ['equal', { isInferred: true }, {}, 'inferred'],
    ['earlier', { isInferred: true }, { hash: 'b-1', updated: day(2), loaded: day(2) }, 'inferred'],
    ['read before', {}, { hash: 'b-1', updated: day(2) }, 'stale'],
    ['unknown so far', undefined, {}, 'new'],
  ]
  expect(await decided(sites, cases)).toEqual(expected(cases))
})

test('a version is valid from its own time, from its return, or as long as its content is the same', async () => {
  const cases: readonly Case[] = [
    ['new', undefined, { updated: day(8) }, day(8)],
    ['new without a time', undefined, { updated: null, loaded: day(7) }, day(7)],
    ['changed', {}, { hash: 'b-1', updated: day(12) }, day(12)],
    ['changed without a time', {}, { hash: 'b-1', updated: null, loaded: day(13) }, day(13)],
    ['touched', { from: day(3) }, { hash: 'a-2', updated: day(12) }, day(3)],
    ['touched, from an unknown time', { from: null }, { hash: 'a-2', updated: day(12) }, day(10)],
    ['back', { deleted: day(12) }, { updated: day(11), loaded: day(14) }, day(14)],
  ]
  const at = (value: unknown): string => String(value).slice(0, 10)
  const found = await decided(dials, cases, 'valid_from')
  expect(
    Object.entries(found)
      .map(([name, value]) => [name, at(value)])
      .sort(),
  ).toEqual(cases.map(([name, , , value]) => [name, at(value)]).sort())
})

test('a record keeps the time at which its first version was fetched', async () => {
  const cases: readonly Case[] = [
    ['stored', { first: day(1) }, { loaded: day(12) }, undefined],
    ['new', undefined, { loaded: day(12) }, undefined],
  ]
  const found = await decided(dials, cases, 'first_loaded_at')
  expect(found).toEqual({
    stored: expect.stringMatching(/^2026-03-01/),
    new: expect.stringMatching(/^2026-03-12/),
  })
})

test('the states are counted', async () => {
  await store(dials, { same: {}, changed: {}, touched: {}, stale: {} })
  const later = { hash: 'b-1', updated: day(11) }
  await arrive({
    same: {},
    changed: later,
    touched: { hash: 'a-2' },
    stale: { hash: 'b-1', updated: day(9) },
  })
  const counts = await createDelta(stage.engine, dials, { records })
  expect(counts).toEqual({ new: 0, inferred: 0, changed: 1, touched: 1, same: 1, stale: 1, missing: 0 })
})

test.each([
  ['new', 'changes'],
  ['inferred', 'changes'],
  ['changed', 'changes'],
  ['missing', 'changes'],
  ['touched', 'touches'],
  ['same', undefined],
  ['stale', undefined],
])('a batch of records that are %s writes %s, and changes beside touched ones', (state, kind) => {
  const none = { new: 0, inferred: 0, changed: 0, touched: 0, same: 0, stale: 0, missing: 0 }
  expect(writeKind({ ...none, [state]: 1 })).toBe(kind)
  expect(writeKind({ ...none, touched: 1, [state]: 1 })).toBe(kind ?? 'touches')
})

const snapshotOf = (...extents: readonly Readonly<Record<string, string>>[]): CompleteSnapshot =>
  extents.map((extent, index) => ({ extent, time: day(20 + index), run: `run-${index}` }))

async function missing(one: Resource, snapshot: CompleteSnapshot, seen: readonly string[]) {
  await stage.engine.run('create or replace temp table stage_seen (id text)')
  await stage.engine.run(`insert into stage_seen values ${['other', ...seen].map(name => `('${name}')`)}`)
  await createDelta(stage.engine, one, { records, snapshot })
  return stage.rows(
    `select record_key, cast(loaded_at as varchar) as at, run_id as run, locator, row_hash, source_updated_at,
       valid_from = loaded_at as is_from, cast(first_loaded_at as varchar) as first
     from delta where state = 'missing' order by 1`,
  )
}

test('a stored record that no page of its extent shows is missing since the extent was read', async () => {
  await arrive({ shown: {} })
  await store(dials, {
    ...{ shown: { kind: 'a' }, 'in quarantine': { kind: 'a' }, gone: { kind: 'a', first: day(2) } },
    ...{ 'gone too': { kind: 'b' }, outside: { kind: 'c' } },
  })
  const snapshot = snapshotOf({ kind: `= 'a'` }, { kind: `= 'b'` })
  const all = { locator: null, row_hash: null, source_updated_at: null, is_from: true }
  expect(await missing(dials, snapshot, ['shown', 'in quarantine'])).toEqual([
    {
      ...all,
      record_key: 'gone',
      at: '2026-03-20 09:00:00+00',
      run: 'run-0',
      first: '2026-03-02 09:00:00+00',
    },
    {
      ...all,
      record_key: 'gone too',
      at: '2026-03-21 09:00:00+00',
      run: 'run-1',
      first: '2026-03-01 09:00:00+00',
    },
  ])
})

test('an extent covers the rows that meet all of its conditions, or every row', async () => {
  await arrive({})
  await store(dials, {
    one: { kind: 'a', version: 1 },
    two: { kind: 'a', version: 2 },
    three: { kind: 'b', version: 2 },
  })
  const keys = async (...extents: readonly Readonly<Record<string, string>>[]) =>
    (await missing(dials, snapshotOf(...extents), [])).map(({ record_key: key }) => key)
  expect(await keys({ kind: `= 'a'`, edition: '= 2' })).toEqual(['two'])
  expect(await keys({})).toEqual(['one', 'three', 'two'])
})

test('neither inferred members nor the unknown member are ever missing', async () => {
  await arrive({})
  await store(sites, { '-1': {}, named: { isInferred: true }, read: {} })
  expect((await missing(sites, snapshotOf({}), [])).map(({ record_key: key }) => key)).toEqual(['read'])
})

test('what a snapshot would remove is counted by extent, beside what is stored there', async () => {
  await arrive({})
  await store(sites, {
    ...{
      '-1': { kind: 'a' },
      named: { kind: 'a', isInferred: true },
      kept: { kind: 'a' },
      gone: { kind: 'a' },
    },
    ...{ other: { kind: 'b' } },
  })
  const snapshot = snapshotOf({ kind: `= 'a'` }, { kind: `= 'b'` }, { kind: `= 'c'` })
  await missing(sites, snapshot, ['kept'])
  await stage.engine.run(`insert into delta (record_key, state) values ('kept', 'same')`)
  const losses = await lossesOf(stage.engine, sites, snapshot)
  expect([...losses].sort((left, right) => left.extent - right.extent)).toEqual([
    { extent: 0, stored: 2, missing: 1 },
    { extent: 1, stored: 1, missing: 0 },
    { extent: 2, stored: 0, missing: 0 },
  ])
})

test('a snapshot that would remove too much names its resource and what it would remove', () => {
  const losses = [{ extent: 0, stored: 20, missing: 19 }]
  const error = new TooManyRemoved('sites', losses)
  expect(error.losses).toBe(losses)
  expect(error.message).toContain('refusing to remove 19 of 20 sites at once')
})

/** Columns of a table of the stage, with their types as PostgreSQL names them. */
const stagedColumns = async (name: string) =>
  (await stage.rows(`describe ${name}`)).map(({ column_name: column, column_type: type }) => [
    String(column),
    String(type)
      .toLowerCase()
      .replace('varchar', () => 'text')
      .replace('timestamp with time zone', () => 'timestamptz'),
  ])

/** What is sent to the server: tables, their columns, and by which column each is joined. */
const sentItems = (withIds: boolean) =>
  sendRecords(stage.engine, withIds).items.flatMap(item =>
    'columns' in item && 'name' in item
      ? [[item.name, item.columns.map(({ name, sql }) => [name, sql]).sort(), item.joinedBy]]
      : [],
  )

test('a server receives the staged records, and the ids only where they are asked for, with the types of the stage', async () => {
  await stage.stage(gauges, [stage.pageOf([{ id: 'a', version: 1 }])])
  const recordItem = ['stage_record', (await stagedColumns('stage_record')).sort(), 'record_key']
  expect(sentItems(false), 'without ids').toEqual([recordItem])
  expect(sentItems(true), 'with ids').toEqual([
    recordItem,
    ['stage_seen', (await stagedColumns('stage_seen')).sort(), 'id'],
  ])
})
