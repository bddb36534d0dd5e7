/** What becomes of each answer to a read by id, and which failures end the reading. */
import { describe, expect, test } from 'vitest'
import {
  AccessDenied,
  AnswerTooLarge,
  BadRequest,
  OtherRecord,
  RetriableError,
} from '../../../src/api/client/errors.ts'
import { BudgetSpent } from '../../../src/lib/errors.ts'
import type { DueId } from '../../../src/state/by-id/due.ts'
import { backOffDays, type FetchState, fetchRecords } from '../../../src/sync/by-id/fetch.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, notFound, rulesTasks, runOfScope, type Service, starRows } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_trade')
const trades = resourceOf('trades')
const facts = { request: 'GET' }
const denied = new AccessDenied(facts)
const failed = new RetriableError(facts, { what: 'the service failed', next: '' })
const spent = new BudgetSpent({ what: 'the budget is spent' })

const due = (id: string, parts: Partial<DueId> = {}): DueId => ({
  ...{ record_id: id, state: 'never fetched', failures: 0 },
  ...parts,
})
const idOf = (path: string): string => path.split('/').at(-1) ?? ''
/** Answers by id: every other id has its record. */
const answering =
  (answers: Readonly<Record<string, object>>): Service =>
  ({ path }) =>
    answers[idOf(path)] ?? { id: idOf(path) }
const unchanged = { hasRead: false, deniedInARow: 0, failedInARow: 0 }

async function fetched(
  service: Service,
  ids: readonly (string | DueId)[],
  { refused, ...state }: Partial<FetchState> & { readonly refused?: readonly string[] } = {},
) {
  const task = await newTask(trades, service, {
    refusal: purpose => (refused?.includes(purpose) ? spent : undefined),
  })
  await runOfScope(warehouse, 'before', task)
  const now = { ...{ scanId: 'scan', purpose: 'sync', sequence: 0 }, ...unchanged, ...state } as FetchState
  const all = ids.map(one => (typeof one === 'string' ? due(one) : one))
  return { task, state: now, found: await fetchRecords(task, now, all) }
}

describe('a record', () => {
  test('is landed with the id that it was asked by', async () => {
    const expected = { kind: 'live', rate: 1, fresh: 0.5, signals: [] }
    const { task, state, found } = await fetched(answering({}), ['a', due('b', { expected })])
    expect(found.records).toMatchObject([
      { asked: 'a', recordId: 'a', askedAt: hour(0), page: { sequence: 1, page: 1, runId: 'this' } },
      { asked: 'b', recordId: 'b', expected, page: { sequence: 2, fetchedAt: hour(0) } },
    ])
    expect(found.records[0]).not.toHaveProperty('expected')
    expect(state).toMatchObject({ sequence: 2, hasRead: true })
    expect(task.counters.requests).toBe(2)
    expect(task.events.map(({ state: now, requests }) => [now, requests])).toEqual([
      ['scanning', expect.any(Number)],
      ['scanning', 2],
    ])
    expect(found).toMatchObject({ failed: [], retryLater: [], stopped: undefined })
  })

  test.each([
    ['another id', { id: 'long-id' }, 'long-id'],
    ['an id that is not safe', { id: 'a b' }, 'a'],
    ['a number as its id', { id: 7 }, 'a'],
    ['no id', {}, 'a'],
  ])('with %s is known by the one that is safe', async (...[, answer, expected]) => {
    const { found } = await fetched(answering({ a: answer }), ['a'])
    expect(found.records).toMatchObject([{ asked: 'a', recordId: expected }])
  })

  test.each([
    ['sync', ['sync', 'webhook']],
    ['webhook', ['webhook', 'webhook']],
  ] as const)(
    'of a %s is paid for by it, or by the share of events that caused it',
    async (purpose, paidBy) => {
      const { task } = await fetched(answering({}), ['a', due('b', { isForEvents: true })], { purpose })
      expect(task.requests.map(request => request.purpose)).toEqual(paidBy)
    },
  )

  test('with an unsafe id is never asked for', async () => {
    const { task, found } = await fetched(answering({}), ['a/b'])
    expect(found.stopped?.error).toMatchObject({ message: 'trades a/b cannot be read by id' })
    expect(task.requests).toEqual([])
  })

  test('is read beside five others', async () => {
    let open = 0
    let most = 0
    const ids = Array.from({ length: 9 }, (_, n) => `t${n}`)
    await fetched(async ({ path }) => {
      open += 1
      most = Math.max(most, open)
      await new Promise(resolve => setTimeout(resolve, 1))
      open -= 1
      return { id: idOf(path) }
    }, ids)
    expect(most).toBe(6)
  })
})

describe('an answer without the record', () => {
  test.each([
    ['that it is not there', notFound, 'missing', 'not found (404)'],
    ['that the key may not read it', denied, 'refused', 'the key may not read this'],
    [
      'that is another record',
      new OtherRecord(facts),
      'refused',
      expect.stringContaining('a different record'),
    ],
    ['that is too large', new AnswerTooLarge(facts, 9), 'refused', 'bad answer: more than 9 bytes'],
    [
      'that the request is wrong',
      new BadRequest({ ...facts, status: 400 }),
      'refused',
      'the service rejects the request (400)',
    ],
  ])('%s is remembered, and asked for again later', async (...[, answer, state, reason]) => {
    const { task, found } = await fetched(answering({ a: answer }), [due('a', { failures: 2 }), 'b'])
    expect(found.failed).toEqual([
      { recordId: 'a', askedAt: hour(0), state, reason, checkedAt: hour(0), retryAfter: hour(4 * 24) },
    ])
    expect(found.records).toHaveLength(1)
    expect(found.stopped).toBeUndefined()
    expect(task.counters.requests).toBe(2)
  })

  test.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 16],
    [6, 30],
    [2000, 30],
  ])('after %i failures in a row waits for %i days', (failures, days) =>
    expect(backOffDays(failures)).toBe(days),
  )
})

describe('a failure of the service', () => {
  test('skips the record, which is asked for again later', async () => {
    const { task, state, found } = await fetched(answering({ a: failed }), ['a'])
    expect(found).toMatchObject({ records: [], failed: [], retryLater: ['a'], stopped: undefined })
    expect([task.counters.requests, state.failedInARow]).toEqual([1, 1])
  })

  test.each([
    [3, undefined],
    [4, failed],
  ])('after %i others in a row: %s ends the reading', async (...[failedInARow, error]) => {
    const { found } = await fetched(answering({ a: failed }), ['a'], { failedInARow })
    expect(found.stopped?.error).toBe(error)
    expect(found.retryLater).toEqual(['a'])
  })

  test.each([
    ['a record', {}],
    ['an answer without the record', { a: notFound }],
  ])('is forgotten after %s', async (...[, answers]) => {
    expect((await fetched(answering(answers), ['a'], { failedInARow: 4 })).state.failedInARow).toBe(0)
  })

  test('of another cause ends the reading, and nothing more is asked', async () => {
    const bug = new Error('a bug')
    const ids = ['a', ...Array.from({ length: 20 }, (_, n) => `t${n}`)]
    const { task, found } = await fetched(answering({ a: bug }), ids)
    expect(found.stopped?.error).toBe(bug)
    expect(task.requests.length).toBeLessThan(10)
  })

  test('is that of the first, where several end the reading', async () => {
    const [first, second] = [new Error('first'), new Error('second')]
    const { found } = await fetched(answering({ a: first, b: second }), ['a', 'b'])
    expect(found.stopped?.error).toBe(first)
  })
})

describe('a spent budget', () => {
  test('of events leaves the others to be read', async () => {
    const ids = [due('a', { isForEvents: true }), 'b']
    const { found } = await fetched(answering({ a: spent }), ids, { refused: ['webhook'] })
    expect(found).toMatchObject({ failed: [], retryLater: [], stopped: undefined })
    expect(found.records).toHaveLength(1)
  })

  test.each([
    ['minute, as the service says again and again,', []],
    ['day', ['webhook', 'sync']],
  ])('of the %s ends the reading for events as well', async (...[, refused]) => {
    const { found } = await fetched(answering({ a: spent }), [due('a', { isForEvents: true })], { refused })
    expect(found.stopped?.error).toBe(spent)
  })

  test('of the day ends the reading', async () => {
    const { found } = await fetched(answering({ a: spent }), ['a'])
    expect(found.stopped?.error).toBe(spent)
  })

  test('of events, met by a record that is not for events, ends the reading', async () => {
    const { found } = await fetched(answering({ a: spent }), ['a'], { refused: ['webhook'] })
    expect(found.stopped?.error).toBe(spent)
  })

  test.each([[[]], [['webhook']]])(
    'is no other failure of a record for events, while %j is refused',
    async refused => {
      const ids = [due('a', { isForEvents: true })]
      const { found } = await fetched(answering({ a: denied }), ids, { refused })
      expect(found.failed).toHaveLength(1)
    },
  )
})

describe('refusals in a row', () => {
  const stored = (...ids: readonly string[]) => starRows(warehouse, { resource: trades, ids })

  test.each([
    [1, false],
    [2, true],
  ])(
    'after %i others, and with no record that answers, end the reading: %s',
    async (deniedInARow, isEnded) => {
      const { task, found } = await fetched(answering({ a: denied }), ['a'], { deniedInARow })
      expect(found.stopped?.error).toBe(isEnded ? denied : undefined)
      expect(found.failed).toHaveLength(1)
      expect(task.asked()).toEqual(['/trades/a'])
    },
  )

  test('do not end it where a stored record answers, which then counts for all later ones', async () => {
    await stored('known', 'other')
    const { task, state, found } = await fetched(answering({ a: denied, known: notFound }), ['a'], {
      deniedInARow: 2,
    })
    expect(found.stopped).toBeUndefined()
    expect(task.asked()).toEqual(['/trades/a', '/trades/known', '/trades/other'])
    expect(state.hasRead).toBe(true)
    expect(task.counters.requests).toBe(3)
    expect(task.requests.map(({ purpose }) => purpose)).toEqual(['sync', 'sync', 'sync'])
  })

  test.each([
    ['not found', notFound],
    ['refused', denied],
    ['another record', new OtherRecord(facts)],
    ['too large', new AnswerTooLarge(facts, 9)],
  ])('end it where the stored records are %s, too', async (...[, answer]) => {
    await stored('known')
    const { found } = await fetched(answering({ a: denied, known: answer }), ['a'], { deniedInARow: 2 })
    expect(found.stopped?.error).toBe(denied)
  })

  test('end it with the failure of the service, where a stored record meets one', async () => {
    await stored('known')
    const { found } = await fetched(answering({ a: denied, known: failed }), ['a'], { deniedInARow: 2 })
    expect(found.stopped?.error).toBe(failed)
  })

  test('do not end it when the service fails after them, and no stored record is asked for', async () => {
    await stored('known')
    const { task, found } = await fetched(answering({ a: failed }), ['a'], { deniedInARow: 3 })
    expect(found.stopped).toBeUndefined()
    expect(task.asked()).toEqual(['/trades/a'])
  })

  test('do not ask for a stored record whose id is not safe', async () => {
    await stored('a b')
    const { task, found } = await fetched(answering({ a: denied }), ['a'], { deniedInARow: 2 })
    expect(found.stopped?.error).toBe(denied)
    expect(task.asked()).toEqual(['/trades/a'])
  })

  test('mean nothing once a record was read', async () => {
    await stored('known')
    const { task, found } = await fetched(answering({ a: denied }), ['a'], { deniedInARow: 9, hasRead: true })
    expect(found.stopped).toBeUndefined()
    expect(task.asked()).toEqual(['/trades/a'])
  })

  test.each([
    ['a refusal adds one', denied, 2],
    ['an answer that it is not there ends them', notFound, 0],
    ['a record ends them', { id: 'a' }, 0],
    ['a failure of the service leaves them', failed, 1],
  ])('%s', async (...[, answer, expected]) => {
    expect((await fetched(answering({ a: answer }), ['a'], { deniedInARow: 1 })).state.deniedInARow).toBe(
      expected,
    )
  })
})
