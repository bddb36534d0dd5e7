/** An event is stored once before it is acknowledged, and repeated deliveries of it are counted. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openIntake, type StoreEvents } from '../../src/events/intake.ts'
import { InboxFull } from '../../src/events/room.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'

const event = (id: string, parts: Partial<InboxEvent> = {}): InboxEvent => ({
  ...{ id, type: 'trade_amended', entity: 'trade', recordId: 't', createdAt: null, state: 'new' },
  ...{ receivedAt: '2026-11-21T05:00:00.000Z', payload: null, ...parts },
})
const identity = (id: string) => `${id} trade_amended t`
const unbounded = { take: () => undefined }

function intakeOf(store: StoreEvents = async () => [], room: Parameters<typeof openIntake>[1] = unbounded) {
  const stored: string[] = []
  const intake = openIntake(async events => {
    const known = await store(events)
    stored.push(...events.map(({ id }) => id))
    return known
  }, room)
  return { intake, stored, repetitions: () => [...intake.repetitions()] }
}

describe('a repeated delivery', () => {
  test('is counted and not stored again, until the counts are fetched', async () => {
    const { intake, stored, repetitions } = intakeOf()
    for (const id of ['a', 'a', 'b', 'a', 'b']) await intake.take(event(id))
    expect(stored).toEqual(['a', 'b'])
    expect(repetitions()).toEqual([
      [identity('a'), 2],
      [identity('b'), 1],
    ])
    expect(repetitions()).toEqual([])
    await intake.take(event('b'))
    expect(repetitions()).toEqual([[identity('b'), 1]])
  })

  test('is not one about another record, or of another type', async () => {
    const { intake, stored } = intakeOf()
    const others = [event('a', { recordId: 'u' }), event('a', { type: 'trade_disabled' })]
    for (const one of [event('a'), ...others]) await intake.take(one)
    expect(stored).toEqual(['a', 'a', 'a'])
  })

  test('waits until the first is on the disk', async () => {
    let finish = () => {}
    const { intake, repetitions } = intakeOf(() => new Promise(resolve => (finish = () => resolve([]))))
    const done: string[] = []
    const first = intake.take(event('a')).then(() => done.push('first'))
    const second = intake.take(event('a')).then(() => done.push('second'))
    await new Promise(resolve => setTimeout(resolve, 5))
    expect([done, repetitions()]).toEqual([[], []])
    finish()
    await Promise.all([first, second])
    expect([done.sort(), repetitions()]).toEqual([['first', 'second'], [[identity('a'), 1]]])
  })

  test('of an event that could not be stored fails with it, and the next one is stored', async () => {
    let isFull = true
    const { intake, stored, repetitions } = intakeOf(async () => {
      if (isFull) throw new Error('full')
      return []
    })
    const failures = await Promise.allSettled([intake.take(event('a')), intake.take(event('a'))])
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isFull = false
    await intake.take(event('a'))
    expect([stored, repetitions()]).toEqual([['a'], []])
  })

  test('is counted where the store knows of an earlier one', async () => {
    const { intake, repetitions } = intakeOf(async () => [identity('a')])
    await Promise.all([intake.take(event('a')), intake.take(event('b'))])
    expect(repetitions()).toEqual([[identity('a'), 1]])
  })

  test('takes no room', async () => {
    const taken: string[] = []
    const { intake } = intakeOf(undefined, { take: ({ id }) => void taken.push(id) })
    for (const id of ['a', 'a', 'b']) await intake.take(event(id))
    expect(taken).toEqual(['a', 'b'])
  })
})

test('an event without room is neither stored nor remembered', async () => {
  let isFull = true
  const { intake, stored } = intakeOf(undefined, {
    take() {
      if (isFull) throw new InboxFull({ what: 'full' })
    },
  })
  await expect(intake.take(event('a'))).rejects.toThrow(InboxFull)
  isFull = false
  await intake.take(event('a'))
  expect(stored).toEqual(['a'])
})

test('an intake is idle when all that it took is stored', async () => {
  const { intake, stored } = intakeOf()
  const taken = intake.take(event('a'))
  await intake.onIdle()
  expect(stored).toEqual(['a'])
  await taken
})

test('the last 50,000 events are remembered', async () => {
  const { intake, stored, repetitions } = intakeOf()
  const add = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, at) => intake.take(event(`e${from + at}`))))
  for (let from = 0; from < 50_000; from += 10_000) await add(from, from + 10_000)
  await intake.take(event('e0'))
  expect(repetitions()).toHaveLength(1)
  await intake.take(event('one more'))
  await intake.take(event('e1'))
  expect(repetitions()).toHaveLength(1)
  await intake.take(event('e0'))
  expect(repetitions()).toEqual([])
  expect(stored).toHaveLength(50_002)
})

describe('a store that does not answer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('has failed after five seconds', async () => {
    const { intake } = intakeOf(() => new Promise(() => undefined))
    let failure: unknown
    intake.take(event('a')).catch(error => (failure = error.message))
    await new Promise(resolve => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(4999)
    expect(failure).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(failure).toContain('the inbox did not answer in time')
  })
})
