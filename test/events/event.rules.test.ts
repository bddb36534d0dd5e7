/** What a signed body says: an event about a record, one that changes no data, or no event at all. */
import { describe, expect, test } from 'vitest'
import { readEvent } from '../../src/events/event.ts'

const nowMs = Date.parse('2026-11-21T05:00:00.000Z')
const readText = (text: string) => readEvent({ body: Buffer.from(text), nowMs })
const read = (body: unknown) => readText(JSON.stringify(body))
const about = (parts: object = {}) => ({
  ...{ id: 'evt_1', type: 'trade_amended', data: { trade: { id: 't1' } }, ...parts },
})

describe('a body is no event', () => {
  test.each<[string, unknown, string]>([
    ['as a list', [], 'not an object'],
    ['as null', null, 'not an object'],
    ['as a text', 'text', 'not an object'],
    ['without an id', about({ id: undefined }), 'without a usable id'],
    ['with a number as its id', about({ id: 1 }), 'without a usable id'],
    ['with an unsafe id', about({ id: 'a b' }), 'without a usable id'],
    ['without a type', about({ type: undefined }), 'without a usable type'],
    ['with a list as its type', about({ type: ['trade_amended'] }), 'without a usable type'],
    ['with an empty type', about({ type: '' }), 'without a usable type'],
    ['with a type that begins with a digit', about({ type: '1_trade' }), 'without a usable type'],
    ['with a type that begins with space', about({ type: ' trade' }), 'without a usable type'],
    ['with a type that ends with space', about({ type: 'trade ' }), 'without a usable type'],
    ['with a type of 65 characters', about({ type: 'a'.repeat(65) }), 'without a usable type'],
  ])('%s', (...[, body, fault]) => expect(read(body)).toEqual({ fault }))

  test('when it is ambiguous, or its id is that of every object', () => {
    expect(readText('{"id":"a","id":"b"}')).toEqual({ fault: 'with a duplicate key' })
    expect(read({ type: 'constructor' })).toEqual({ fault: 'without a usable id' })
  })
})

const base = { id: 'evt_1', createdAt: null, receivedAt: '2026-11-21T05:00:00.000Z' }

describe('an event about a record', () => {
  test('names it, and keeps nothing else of the body', () => {
    expect(read(about())).toEqual({
      ...{ ...base, type: 'trade_amended', entity: 'trade', recordId: 't1', state: 'new', payload: null },
    })
  })

  test.each([
    ['2026-11-20T04:00:00Z', '2026-11-20T04:00:00.000Z'],
    ['2026-11-20T04:00:00.5Z', '2026-11-20T04:00:00.500Z'],
    ['2026-11-20T04:00:00.123456789Z', '2026-11-20T04:00:00.123Z'],
    ['2026-11-20T04:00:00+01:30', '2026-11-20T02:30:00.000Z'],
    ['2000-01-01T00:00:00-01:00', '2000-01-01T01:00:00.000Z'],
    ['2099-12-31T23:00:00Z', '2099-12-31T23:00:00.000Z'],
    ['1999-11-20T04:00:00Z', null],
    ['2100-11-20T04:00:00Z', null],
    ['2026-13-20T04:00:00Z', null],
    ['2026-11-20T04:00:00', null],
    ['2026-11-20T04:00:00.Z', null],
    ['2026-11-20T04:00:00.1234567890Z', null],
    ['2026-11-20T04:00:00+0100', null],
    ['x2026-11-20T04:00:00Z', null],
    ['2026-11-20T04:00:00Zx', null],
    ['2026-11-20', null],
    [1_700_000_000_000, null],
    [['2026-11-20T04:00:00Z'], null],
    [undefined, null],
  ])('was made at %s: %s', (createdAt, expected) => {
    expect(read(about({ createdAt }))).toMatchObject({ createdAt: expected, state: 'new' })
  })

  test.each<[string, string, unknown, string | null]>([
    ['under the name of its entity', 'credit_note_processed', { creditNote: { id: 'r' } }, 'r'],
    ['among others', 'expense_amended', { expense: { id: 'r' }, more: { id: 'x' } }, 'r'],
    ['not under another name where its name is known', 'expense_amended', { cost: { id: 'r' } }, null],
    ['under the only name where its name is not documented', 'rate_created', { price: { id: 'r' } }, 'r'],
    ['under its own name first', 'rate_created', { x: { id: 'q' }, rate: { id: 'r' } }, 'r'],
    ['not under its own name without an id', 'rate_created', { rate: {} }, null],
    ['not under one of two names', 'rate_created', { price: { id: 'r' }, more: 1 }, null],
    ['not where there is none', 'rate_created', {}, null],
    ['not in a list', 'rate_created', [{ id: 'r' }], null],
    ['not without data', 'rate_created', undefined, null],
    ['not when it is a number', 'rate_created', { rate: { id: 1 } }, null],
    ['not when it is unsafe', 'rate_created', { rate: { id: '../r' } }, null],
    ['not when it stands for no record', 'rate_created', { rate: { id: 'null' } }, null],
    ['not when it is a text', 'rate_created', { rate: 'r' }, null],
    ['not when it is null', 'rate_created', { rate: null }, null],
    ['not when the name is inherited', 'rate_created', { rate: { ID: 'r' } }, null],
  ])('has its id %s', (...[, type, data, recordId]) => {
    expect(read(about({ type, data }))).toMatchObject({
      recordId,
      state: recordId === null ? 'unreadable' : 'new',
    })
  })

  test.each([
    ...['credit_note_created', 'purchase_order_created', 'purchase_order_amended', 'purchase_order_expired'],
    ...['purchase_order_deleted', 'trade_created', 'trade_disabled', 'rate_created', 'rate_amended'],
  ])('of type %s may have its id under any name', type => {
    expect(read(about({ type, data: { any: { id: 'r' } } }))).toMatchObject({ recordId: 'r', state: 'new' })
  })
})

describe('an event that changes no data is kept with its body', () => {
  const kept = (body: object) => ({ ...base, recordId: null, payload: JSON.stringify(body) })

  test.each(['test', 'ping', 'webhook_test', 'test_event'])('as a test, of type %s', type => {
    const body = about({ type })
    expect(read(body)).toEqual({ ...kept(body), type, entity: null, state: 'test' })
  })

  test.each([
    [true, 'test'],
    [false, 'new'],
    ['true', 'new'],
    [undefined, 'new'],
  ])('as a test when it says so: %s, %s', (flag, state) => {
    expect(read(about({ test: flag }))).toMatchObject({ state })
  })

  test.each(['Trade_amended', 'a'.repeat(64), 'a.b-c_D1', 'toString'])('as unknown, of type %s', type => {
    const body = about({ type })
    expect(read(body)).toEqual({ ...kept(body), type, entity: null, state: 'unknown' })
  })

  test('as unreadable, without a usable id of its record', () => {
    const body = about({ data: {} })
    expect(read(body)).toEqual({ ...kept(body), type: 'trade_amended', entity: 'trade', state: 'unreadable' })
  })

  test('up to 2,048 bytes of it, between characters', () => {
    const payload = (text: string) => (read(about({ type: 'other', text })) as { payload: string }).payload
    const before = JSON.stringify(about({ type: 'other', text: '' })).length - 2
    const room = 2048 - before
    expect(payload('a'.repeat(room - 2))).toHaveLength(2048)
    expect(payload('a'.repeat(room))).toHaveLength(2048)
    expect(payload(`${'a'.repeat(room - 1)}é`)).toHaveLength(2047)
    expect(payload(`${'a'.repeat(room - 2)}é`).at(-1)).toBe('é')
  })
})
