/** Whether one more event may be stored. */
import { describe, expect, test } from 'vitest'
import { hasRoom, InboxFull, Room } from '../../src/events/room.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'

const event = (change: Partial<InboxEvent> = {}): InboxEvent => ({
  id: 'e',
  type: 'trade_amended',
  entity: 'trade',
  recordId: 't',
  createdAt: null,
  receivedAt: '2026-11-21T05:00:00.000Z',
  state: 'new',
  payload: null,
  ...change,
})
const unknown = event({ state: 'unknown', payload: 'é'.repeat(50) })

describe('an event has room', () => {
  const bounds = { events: 10, bytes: 10_000 }
  test.each([
    ['up to the last event', event(), { events: 9, bytes: 0 }, true],
    ['not beyond it', event(), { events: 10, bytes: 0 }, false],
    ['up to the last byte', event(), { events: 0, bytes: 9700 }, true],
    ['not beyond it', event(), { events: 0, bytes: 9701 }, false],
    ['up to half of the events, where it changes no data', unknown, { events: 4, bytes: 0 }, true],
    ['not beyond them', unknown, { events: 5, bytes: 0 }, false],
    ['up to half of the bytes, where it changes no data', unknown, { events: 0, bytes: 4600 }, true],
    ['not beyond them', unknown, { events: 0, bytes: 4601 }, false],
  ])('%s', (...[, one, stored, expected]) => {
    expect(hasRoom(one, { stored, bounds })).toBe(expected)
  })
})

test('events taken since the last look count, and those that the look has found do not count twice', () => {
  const room = new Room({ events: 3, bytes: 10_000 })
  room.take(event())
  const look = room.look()
  room.take(event())
  look.measured({ events: 1, bytes: 300 })
  expect(room.stored).toEqual({ events: 2, bytes: 600 })
  room.take(event())
  expect(() => room.take(event())).toThrow(InboxFull)
  room.look().measured({ events: 0, bytes: 0 })
  room.take(event())
})

test('a full inbox says how much is in it, in whole megabytes', () => {
  const room = new Room({ events: 1, bytes: 1e9 })
  room.look().measured({ events: 1234, bytes: 2_000_001 })
  expect(() => room.take(event())).toThrow('the inbox is full, with 1,234 events in 3 MB')
  expect(room.stored).toEqual({ events: 1234, bytes: 2_000_001 })
})

test('an event counts with the bytes that it takes', () => {
  const room = new Room({ events: 10, bytes: 10_000 })
  room.take(unknown)
  expect(room.stored).toEqual({ events: 1, bytes: 400 })
})
