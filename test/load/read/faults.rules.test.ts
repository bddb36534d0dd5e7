/** No value is lost in its column: which values of a record are refused, and what is staged of its batch all the same. */
import { expect, test } from 'vitest'
import { rulesStage } from '../rules-stage.ts'
import { boxes, vessels } from './vessels.ts'

const stage = rulesStage()

/** One record a case, in one batch; faults by record. The other records are staged. */
async function faults(cases: Readonly<Record<string, object>>, beside: readonly unknown[] = []) {
  const records = Object.entries(cases).map(([key, parts]) => ({ id: key.replaceAll(' ', '.'), ...parts }))
  const all = [...records, ...beside]
  const { trouble } = await stage.stage(vessels, [stage.pageOf(all)])
  const left = await stage.rows('select record_key from stage_record order by locator')
  const lost = new Set(trouble.map(({ payload }) => payload))
  expect(left.map(({ record_key: key }) => key)).toEqual(
    records.filter(record => !lost.has(JSON.stringify(record))).map(({ id }) => id),
  )
  return Object.fromEntries(
    trouble.map(one => [
      (JSON.parse(one.payload) as { id?: string } | null)?.id?.replaceAll('.', ' ') ?? one.payload,
      one.faults.map(({ path, text, reason }) => [path, text, reason]),
    ]),
  )
}

const fine = {
  ...{
    'all absent': {},
    'all null': { info: null, level: null, open: null, openedAt: null, notes: null, decks: null, spec: null },
  },
  ...{ 'no day': { seenOn: '' }, day: { seenOn: '31/12/2025' }, 'most digits': { level: 99999999.9999 } },
  ...{
    'rounded amount': { level: 1.23456 },
    negative: { level: -5, info: { crew: -3 } },
    zero: { level: 0, info: { crew: 0 } },
  },
  ...{
    'largest number': { info: { crew: 1000000 } },
    'odd document': { spec: [1, { a: 'b' }] },
    'empty object': { owner: { id: 'u' } },
  },
}
const wrong = {
  'no time': { openedAt: 'never' },
  'no calendar day': { openedAt: '2026-02-30T00:00:00Z' },
  'other day': { seenOn: '2025-12-31' },
  'large number': { info: { crew: 99999999999999 * 1e9 } },
  'large amount': { level: 100000000 },
  'large when rounded': { level: 99999999.99995 },
  'beyond 64 bits': { version: 2 ** 63 },
  'offset without seconds': { openedAt: '2026-02-28T10:00Z' },
  'two faults': { openedAt: 'x', seenOn: 'y' },
  'in a list': { decks: [{ name: 'a', cabins: [{ size: 1 }, { size: 100000000 }] }] },
}
const found = {
  'no time': [['openedAt', 'never', 'not a date and time']],
  'no calendar day': [['openedAt', '2026-02-30T00:00:00Z', 'not a date and time']],
  'other day': [['seenOn', '2025-12-31', 'not a day as DD/MM/YYYY']],
  'large number': [['info.crew', expect.stringContaining('9'), 'not a whole number']],
  'large amount': [['level', '100000000', 'not a number']],
  'large when rounded': [['level', '99999999.99995', 'not a number']],
  'beyond 64 bits': [['version', '9223372036854776000', 'not a whole number']],
  'offset without seconds': [['openedAt', '2026-02-28T10:00Z', 'not a date and time']],
  'two faults': [
    ['openedAt', 'x', 'not a date and time'],
    ['seenOn', 'y', 'not a day as DD/MM/YYYY'],
  ],
  'in a list': [['decks[0].cabins[1].size', '100000000', 'not a number']],
}

test('values that fit their type in form are refused when they do not fit it in size or meaning', async () => {
  expect(await faults({ ...fine, ...wrong })).toEqual(found)
})

test('true and false are values of flags only', async () => {
  const cases = { open: { open: true }, 'not open': { open: false }, 'no boolean': { open: 'yes' } }
  expect(await faults({ ...fine, ...cases, 'true as number': { level: true } })).toEqual({
    'no boolean': [['open', 'yes', 'not true or false']],
    'true as number': [['level', 'true', 'not a number']],
  })
  const stored = await stage.rows(`select is_open from stage.stage_0 where vessel_id like '%open' order by 1`)
  expect(stored).toEqual([{ is_open: false }, { is_open: true }])
})

test('a record without its id is missing it', async () => {
  expect(await faults({}, [{ name: 'a' }, { id: null, name: 'b' }])).toEqual({
    '{"name":"a"}': [['id', null, 'missing']],
    '{"id":null,"name":"b"}': [['id', null, 'missing']],
  })
})

test('a value of another structure is found at its place, and all others of the batch as if they were alone', async () => {
  const cases = {
    'object as text': { info: 'x' },
    'object as list': { info: [1] },
    'inner object as text': { info: { engine: 'x' } },
    'list as object': { notes: { words: 'a' } },
    'list as text': { notes: 'x' },
    'element as text': { notes: [{ words: 'a' }, 'x'] },
    'deep list as text': { decks: [{ name: 'a', cabins: 'x' }] },
    'text as number': { level: 'abc' },
  }
  const structure = {
    'object as text': [['info', 'x', 'not an object']],
    'object as list': [['info', '[1]', 'not an object']],
    'inner object as text': [['info.engine', 'x', 'not an object']],
    'list as object': [['notes', '{"words":"a"}', 'not a list']],
    'list as text': [['notes', 'x', 'not a list']],
    'element as text': [['notes[1]', 'x', 'not an object']],
    'deep list as text': [['decks[0].cabins', 'x', 'not a list']],
    'text as number': [['level', 'abc', 'not a number']],
  }
  expect(await faults({ ...fine, ...wrong, ...cases })).toEqual({ ...found, ...structure })
})

test('what is no object is no record, whatever it is', async () => {
  const whole = (text: string) => [['', text, 'not an object']]
  expect(await faults({ fine: {}, misfit: { notes: 'x' } }, ['text', 7, [1], null])).toEqual({
    misfit: [['notes', 'x', 'not a list']],
    '"text"': whole('text'),
    '7': whole('7'),
    '[1]': whole('[1]'),
    null: whole('null'),
  })
})

test('a member that says the same again is read once, and one that says something else is refused', async () => {
  const page = stage.page(`{"data":[
    {"id":"same", "name" : "x" , "name":"x","info":{"crew":3,"crew":3}},
    {"id":"other","info":{"crew":3,"crew":4}},
    {"id":"null","id":null},
    {"id":null,"id":"last"},
    {"id":"wrong","level":"x","level":"x"}]}`)
  const { trouble } = await stage.stage(vessels, [page])
  expect(trouble.map(one => one.faults.map(({ reason }) => reason))).toEqual([
    ['"crew" has several values in one object'],
    ['"id" has several values in one object'],
    ['"id" has several values in one object'],
    ['not a number', 'not a number'],
  ])
  expect(await stage.rows('select vessel_id, name, crew from stage.stage_0')).toEqual([
    { vessel_id: 'same', name: 'x', crew: 3 },
  ])
  const seen = await stage.rows('select id from stage_seen order by 1')
  expect(seen.map(({ id }) => String(id).replace(/[0-9a-f]{32}/, 'hash'))).toEqual([
    ...['last', 'no id: hash', 'other', 'same', 'wrong'],
  ])
})

test('of what is refused the rest of its record counts as seen', async () => {
  const times = { createdAt: '2026-03-01T09:00:00Z', updatedAt: '2026-03-02T09:00:00Z' }
  await stage.stage(vessels, [stage.pageOf([{ id: 'a', ...times, level: 'x', notes: 'y', decks: [7] }])])
  expect(await stage.rows('select id, existed_at, changed_at from stage_seen')).toEqual([
    { id: 'a', existed_at: Date.parse(times.createdAt), changed_at: Date.parse(times.updatedAt) },
  ])
})

test('a record has at most 20 faults in quarantine and is replaced completely', async () => {
  const notes = Array.from({ length: 30 }, () => 'x')
  expect((await faults({ fine: {}, many: { notes } })).many).toHaveLength(20)
})

test('records with documents are judged likewise', async () => {
  const records = [
    { id: 'fine', lids: [{ colour: 'red' }], contents: { label: 'x' } },
    { id: 'lids', lids: 'x' },
    { id: 'lid', lids: ['x'] },
    { id: 'marks', marks: 'any' },
    { id: 'contents', contents: 'any' },
  ]
  const { trouble } = await stage.stage(boxes, [stage.pageOf(records)])
  expect(trouble.map(one => one.faults)).toMatchObject([
    [{ path: 'lids', reason: 'not a list' }],
    [{ path: 'lids[0]', reason: 'not an object' }],
    [{ path: 'contents', reason: 'not an object' }],
  ])
})
