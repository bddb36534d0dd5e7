/** When the source is looked at for quarantined records, and where. */
import { describe, expect, test } from 'vitest'
import {
  isLookDue,
  nextDayLook,
  nextRecordLook,
  recordLook,
} from '../../../src/state/evidence/quarantine-looks.ts'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { hour, ledgerBench, quarantined, run } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const now = Date.parse('2026-03-02T06:00:00.000Z')
const question = { resource: 'expenses', now }
const look = (parts: object = {}) =>
  recordLook(bench.engine, {
    ...{ resource: 'expenses', looked_at: hour(1), place: '2026-01-05', page: 1, total: 100, ...parts },
  })
const isDue = (parts: object = {}) => isLookDue(bench.engine, { ...question, ...parts })
const waits = (...rows: readonly object[]) =>
  bench.insert('ops.quarantine', ...rows.map((row, at) => quarantined(`r${at}`, row)))
const created = (day: string) => ({ payload: `{"id":"r","createdAt":"${day}T01:00:00Z","more":1}` })

describe('a look is due', () => {
  test.each([
    ['2026-03-01T10:00:00.000Z', true],
    ['2026-03-01T10:00:00.001Z', false],
    ['2026-03-02T05:59:59.999Z', false],
    ['2026-03-02T06:00:00.001Z', true],
  ])('twenty hours after the last one: of %s, %s', async (lookedAt, expected) => {
    await waits({})
    await look({ looked_at: lookedAt })
    expect(await isDue()).toBe(expected)
  })

  test.each<[string, object, boolean]>([
    ['when a record waits that nobody looked for', {}, true],
    ['not when none waits any more', { resolved_at: hour(2) }, false],
    ['not for the records of another list', { resource: 'x' }, false],
  ])('%s', async (...[, row, expected]) => {
    await waits(row)
    await look({ resource: 'x', looked_at: hour(23) })
    expect(await isDue()).toBe(expected)
  })

  test.each([
    ['before the run began', hour(2, 59), 'run-1', true],
    ['by the run', hour(3), 'run-1', false],
    ['by another run', hour(3), 'run-2', true],
    ['and no run asks', hour(3), undefined, true],
  ])('for a record that was read last %s', async (...[, seenAt, runId, expected]) => {
    await bench.insert('ops.run', run('run-1', { state: 'running', started_at: hour(3) }))
    await waits({ seen_at: seenAt })
    expect(await isDue(runId === undefined ? {} : { runId })).toBe(expected)
  })

  test.each(['quarantine', 'quarantine_look'])('never in a copy without %s', async table => {
    await waits({})
    await bench.engine.run(`drop table ops.${table}`)
    forgetTables(bench.engine)
    expect(await isDue()).toBe(false)
    forgetTables(bench.engine)
  })
})

describe('the next look at a day', () => {
  const next = (pageSize = 50) => nextDayLook(bench.engine, { ...question, pageSize })
  const days = ['2026-01-07', '2026-01-05', '2026-01-07'].map(created)

  test('is at the first page of the first day', async () => {
    expect(await next()).toBeUndefined()
    await waits(...days)
    expect(await next()).toEqual({ place: '2026-01-05', page: 1 })
  })

  test.each<[string, object, string, number]>([
    ['the next page of the day', { page: 1, total: 51 }, '2026-01-05', 2],
    ['the next day after the last page', { page: 1, total: 50 }, '2026-01-07', 1],
    ['the page after the second one', { page: 2, total: 101 }, '2026-01-05', 3],
    ['the next day after two pages', { page: 2, total: 100 }, '2026-01-07', 1],
    ['the first day after the last', { place: '2026-01-07', total: 0 }, '2026-01-05', 1],
    ['the next day after one with nothing to look for', { place: '2026-01-06' }, '2026-01-07', 1],
  ])('is %s', async (...[, last, place, page]) => {
    await waits(...days)
    await look(last)
    expect(await next()).toEqual({ place, page })
  })

  test.each([
    ['{"createdAt"  :  "2026-01-05T01:00:00Z"}', '2026-01-05'],
    ['{"a":{"createdAt":"2026-01-05"},"createdAt":"2026-01-06"}', '2026-01-05'],
    ['{"createdAt":"yesterday"}', ''],
    ['{"createdAt":20260105}', ''],
    ['{"updatedAt":"2026-01-05"}', ''],
  ])('is at the day in %s: %s', async (payload, place) => {
    await waits({ payload })
    expect(await next()).toEqual({ place, page: 1 })
  })

  test('is at the complete list first where a record does not state its day', async () => {
    await waits(created('2026-01-05'), {})
    expect((await next())?.place).toBe('')
    await look({ place: '', total: 0 })
    expect((await next())?.place).toBe('2026-01-05')
  })

  test('does not happen before it is due', async () => {
    await waits(...days)
    await look({ looked_at: new Date(now - 1).toISOString() })
    expect(await next()).toBeUndefined()
  })
})

describe('the next look at a record', () => {
  const next = () => nextRecordLook(bench.engine, question)

  test('is at the one after the last, in a circle', async () => {
    expect(await next()).toBeUndefined()
    await waits({ record_id: 'b' }, { record_id: 'a' }, { record_id: null }, { record_id: 'b' })
    expect(await next()).toBe('a')
    await look({ place: 'a' })
    expect(await next()).toBe('b')
    await look({ place: 'b' })
    expect(await next()).toBe('a')
  })

  test('does not happen where no record has an id', async () => {
    await waits({ record_id: null })
    expect(await next()).toBeUndefined()
  })
})

test('a look takes the place of the last one at its list', async () => {
  await look()
  await look({ resource: 'x' })
  const second = { looked_at: hour(2), place: 'p', page: 3, total: 4 }
  await look(second)
  expect(await bench.rows('select * from ops.quarantine_look order by resource')).toEqual([
    { resource: 'expenses', ...second },
    { resource: 'x', looked_at: hour(1), place: '2026-01-05', page: 1, total: 100 },
  ])
})
