/** Bodies that are rightly signed and no events are refused; what says nothing usable is kept and touches no data. */
import { describe, expect, test } from 'vitest'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'
import { attackedReceiver, good } from './attacked.ts'
import { signed } from './served.ts'

const { put, refuses, taken, takes } = attackedReceiver()

describe('bodies, rightly signed', () => {
  const deep = (depth: number): string =>
    `{"id":"e","type":"trade_amended","data":${'['.repeat(depth)}${']'.repeat(depth)}}`
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['no JSON', 'id=evt_1'],
    ['half of it', good().slice(0, -2)],
    ['two documents', good() + good()],
    ['a list', `[${good()}]`],
    ['a text', '"evt_1"'],
    ['a number', '1e400'],
    ['null', 'null'],
    ['a BOM before it', `\ufeff${good()}`],
    ['UTF-16', Buffer.from(good(), 'utf16le')],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ['NUL inside', good().replace('evt_', 'evt\u0000')],
    ['a key twice', '{"id":"a","id":"b","type":"trade_amended","data":{"trade":{"id":"t"}}}'],
    ['a key twice, spelt differently', '{"id":"a","\\u0069d":"b","type":"trade_amended","data":{}}'],
    ['a key twice further in', '{"id":"a","type":"trade_amended","data":{"trade":{"id":"t","id":"u"}}}'],
    ['__proto__', '{"id":"a","type":"trade_amended","__proto__":{"id":"b"}}'],
    ['__proto__ further in', '{"id":"a","type":"trade_amended","data":{"trade":{"__proto__":{"id":"b"}}}}'],
    ['__proto__ in escapes', '{"id":"a","type":"trade_amended","\\u005f_proto__":{}}'],
    ['40 levels', deep(40)],
    ['10,000 levels', deep(10_000)],
    ['no id', '{"type":"trade_amended","data":{"trade":{"id":"t"}}}'],
    ['a number as id', '{"id":7,"type":"trade_amended","data":{}}'],
    ['an empty id', '{"id":"","type":"trade_amended","data":{}}'],
    ['an id of 65 letters', JSON.stringify({ id: 'x'.repeat(65), type: 'trade_amended' })],
    ['an id of 10 kB', JSON.stringify({ id: 'x'.repeat(10_240), type: 'trade_amended' })],
    ['an id with a path', JSON.stringify({ id: '../me', type: 'trade_amended' })],
    ['an id with a quote', JSON.stringify({ id: "a'; drop table x; --", type: 'trade_amended' })],
    ['an id with a lone surrogate', '{"id":"\\ud83d","type":"trade_amended"}'],
    ['an id with a line break', JSON.stringify({ id: 'a\r\nlevel=error', type: 'trade_amended' })],
    ['no type', '{"id":"a","data":{}}'],
    ['a type with a line break', JSON.stringify({ id: 'a', type: 'trade\r\namended' })],
    ['a type of 10 kB', JSON.stringify({ id: 'a', type: 'x'.repeat(10_240) })],
    ['an inherited name as type', '{"id":"a","type":{"toString":1}}'],
  ])('%s', (_, body) => refuses(400, () => put(signed(body))))

  const kept = async (body: string, expected: Partial<InboxEvent>): Promise<void> => {
    await takes(() => put(signed(body)))
    expect(taken.at(-1)).toMatchObject(expected)
  }
  test.each(['../me', '..%2fme', "a' or 1=1", 'a\u0000', 'x'.repeat(10_240), '', 'a b', 'ä', '\ud83d'])(
    'an invalid record id is kept and never asked for: %j',
    id => kept(good('trade_amended', { trade: { id } }), { state: 'unreadable', recordId: null }),
  )
  test.each(['-1', '-42', '0', '-0', '-', '__', '0'.repeat(24), 'null', 'NULL', 'undefined', 'None', 'NaN'])(
    'a placeholder in place of a record id is kept and never asked for: %j',
    id => kept(good('trade_amended', { trade: { id } }), { state: 'unreadable', recordId: null }),
  )
  test.each(['1', 'a-1', '-a', 'V1StGXR8_Z5jdHi6B-myT', '65f0c2a1b3d4e5f60718293a', 'nullable'])(
    'an id in the form of a record or of a short id is asked for: %j',
    id => kept(good('trade_amended', { trade: { id } }), { state: 'new', recordId: id }),
  )
  test.each<[string, unknown]>([
    ['none', {}],
    ['null', null],
    ['a list', [{ id: 't' }]],
    ['a text', 'trade'],
    ['an id without its entity', { id: 't' }],
    ['another entity', { timesheet: { id: 't1' } }],
    ['two others', { timesheet: { id: 't1' }, invoice: { id: 'i1' } }],
    ['an id that is a number', { trade: { id: 7 } }],
    ['an inherited id', { trade: { constructor: { id: 't' } } }],
  ])('data of no use is kept: %s', (_, data) =>
    kept(good('trade_amended', data as object), { state: 'unreadable', recordId: null }),
  )
  test('of two entities the one that the type is about counts', () =>
    kept(good('trade_amended', { worker: { id: 'w' }, trade: { id: 't' } }), { state: 'new', recordId: 't' }))
  test('a key that the service does not show may be any, alone', async () => {
    await kept(good('purchase_order_created', { po: { id: 'p1' } }), {
      entity: 'purchase_order',
      recordId: 'p1',
    })
    await kept(good('purchase_order_created', { po: { id: 'p1' }, x: { id: 'p2' } }), { state: 'unreadable' })
  })
  test('an unknown type', () => kept(good('worker_vanished'), { state: 'unknown', entity: null }))
  test.each(['constructor', 'toString', 'hasOwnProperty'])('a type that every object has: %s', type =>
    kept(good(type), { state: 'unknown' }),
  )
  test('a test from the application', () => kept(good('test'), { state: 'test', recordId: null }))
  test('a key constructor changes nothing', async () => {
    await kept(
      '{"id":"c1","type":"trade_amended","constructor":{"prototype":{"isAdmin":true}},"data":{"trade":{"id":"t"}}}',
      {
        recordId: 't',
      },
    )
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false)
  })
  test.each([
    'yesterday',
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '1e400',
    5,
    null,
    '2026-11-21T05:00:00Z\n',
  ])('a time that is none or odd does no harm: %j', async createdAt => {
    const id = `time_${taken.length}`
    await takes(() =>
      put(signed(JSON.stringify({ id, type: 'trade_amended', createdAt, data: { trade: { id: 't' } } }))),
    )
    const { createdAt: read } = taken.at(-1) as InboxEvent
    expect(read === null || new Date(read).toISOString() === read).toBe(true)
  })
})
