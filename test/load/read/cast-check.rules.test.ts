/** No value is lost in its column unnoticed: what the cast check finds in each record, whichever way it is read. */
import { expect, test } from 'vitest'
import { rulesStage } from '../rules-stage.ts'
import { boxes, vessels } from './vessels.ts'

const stage = rulesStage()

/** One record a case, in one batch that keeps what the search of the page would leave out; faults by record. */
async function faults(cases: Readonly<Record<string, object>>, beside: readonly unknown[] = []) {
  const records = Object.entries(cases).map(([key, parts]) => ({ id: key, ...parts }))
  const { quarantined, isReadAsJson, pages } = await stage.stage(
    vessels,
    [stage.pageOf([...records, ...beside])],
    { keepsFaulty: true },
  )
  const rows = await stage.rows(
    `select json_extract_string(j, '$.id') as id, f.path, f.text, f.reason, f.locator from cast_failure f join checked_record using (locator)
     order by f.locator, f.path`,
  )
  const left = await stage.rows('select record_key from stage_record')
  const lost = new Set(rows.map(row => row.locator))
  expect(quarantined).toBe(lost.size)
  expect(left).toHaveLength(records.length + beside.length - lost.size)
  expect(pages).toHaveLength(1)
  const found = new Map<string, typeof rows>()
  for (const row of rows) found.set(String(row.id), [...(found.get(String(row.id)) ?? []), row])
  const described = [...found].map(([key, all]) => [key, all.map(one => [one.path, one.text, one.reason])])
  return { found: Object.fromEntries(described), isReadAsJson }
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
  'two faults': { openedAt: 'x', seenOn: 'y' },
  'in a list': { decks: [{ name: 'a', cabins: [{ size: 1 }, { size: 100000000 }] }] },
}
const found = {
  'no time': [['openedAt', 'never', 'not a date and time']],
  'no calendar day': [['openedAt', '2026-02-30T00:00:00Z', 'not a date and time']],
  'other day': [['seenOn', '2025-12-31', 'not a day as DD/MM/YYYY']],
  'large number': [['info.crew', expect.stringContaining('9'), 'not a whole number']],
  'large amount': [['level', '100000000', 'not a number']],
  'two faults': [
    ['openedAt', 'x', 'not a date and time'],
    ['seenOn', 'y', 'not a day as DD/MM/YYYY'],
  ],
  'in a list': [['decks[0].cabins[1].size', '100000000', 'not a number']],
}

test('values that fit their type in form are found when they do not fit it in size or meaning', async () => {
  expect(await faults({ ...fine, ...wrong })).toEqual({ found, isReadAsJson: false })
})

test('they are found as well where a page has booleans, so that numbers are read as text', async () => {
  const cases = {
    ...fine,
    ...wrong,
    open: { open: true },
    'not open': { open: false },
    'no boolean': { open: 'yes' },
  }
  const expected = { ...found, 'no boolean': [['open', 'yes', 'not true or false']] }
  expect(await faults({ ...cases, 'true as number': { level: true } })).toEqual({
    found: { ...expected, 'true as number': [['level', 'true', 'not a number']] },
    isReadAsJson: false,
  })
})

test('a record without its id is missing it', async () => {
  expect(await faults({}, [{ name: 'a' }, { id: null, name: 'b' }])).toEqual({
    found: {
      null: [
        ['id', null, 'missing'],
        ['id', null, 'missing'],
      ],
    },
    isReadAsJson: false,
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
  expect(await faults({ ...fine, ...wrong, ...cases })).toEqual({
    found: { ...found, ...structure },
    isReadAsJson: true,
  })
})

test('what is no object is no record, whatever it is', async () => {
  const beside = ['text', 7, [1], null]
  const whole = (text: string) => ['', text, 'not an object']
  expect(await faults({ fine: {}, misfit: { notes: 'x' } }, beside)).toEqual({
    found: {
      misfit: [['notes', 'x', 'not a list']],
      null: ['text', '7', '[1]', 'null']
        .map(whole)
        .map(([path, text, why]) => [path, text === 'text' ? '"text"' : text, why]),
    },
    isReadAsJson: true,
  })
})

test('a batch without a doubtful value is not looked at again', async () => {
  await stage.engine.run('drop table if exists checked_record')
  const { quarantined } = await stage.stage(vessels, [stage.pageOf([{ id: 'a', ...fine.day }])])
  expect(quarantined).toBe(0)
  await expect(stage.rows('select * from checked_record')).rejects.toThrow('checked_record')
})

test('records that are always read as JSON are checked likewise', async () => {
  const records = [
    { id: 'fine', lids: [{ colour: 'red' }], contents: { label: 'x' } },
    { id: 'lids', lids: 'x' },
    { id: 'lid', lids: ['x'] },
    { id: 'marks', marks: 'any' },
    { id: 'contents', contents: 'any' },
  ]
  await stage.stage(boxes, [stage.pageOf(records)], { keepsFaulty: true })
  const rows = await stage.rows(
    `select json_extract_string(j, '$.id') as id, path, reason from cast_failure join checked_record using (locator) order by 1`,
  )
  expect(rows).toEqual([
    { id: 'contents', path: 'contents', reason: 'not an object' },
    { id: 'lid', path: 'lids[0]', reason: 'not an object' },
    { id: 'lids', path: 'lids', reason: 'not a list' },
  ])
})
