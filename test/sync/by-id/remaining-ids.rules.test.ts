/** What a run leaves of a resource that it reads by id, and why that makes it incomplete or not. */
import { describe, expect, test } from 'vitest'
import { BudgetSpent } from '../../../src/lib/errors.ts'
import { outOfRequests, requireAnswers, restOf } from '../../../src/sync/by-id/by-id.ts'
import type { StoredChoice } from '../../../src/sync/by-id/choose-stored.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, type KnownId, knownIds, rulesTasks } from '../rules-task.ts'

const warehouse = rulesWarehouse()
rulesTasks(warehouse)
const question = { resource: 'trades', keyScope: 'now', at: hour(0), fetchedBefore: hour(0) }
let made = 0
const known = (count: number, parts: KnownId = {}) => {
  const ids = Array.from({ length: count }, () => `t${++made}`)
  return knownIds(warehouse, { resource: 'trades', ids }, parts)
}
const choice = (worth: number, chosen: number): StoredChoice => ({
  worth: new Map([['trades', worth]]),
  chosen: new Map([
    ['trades', Array.from({ length: chosen }, () => ({ record_id: '', state: 'stored', failures: 0 }))],
  ]),
})
const signalled: KnownId = { state: 'stored', signals: 1, fetchedAt: hour(-2) }
const fromEvent: KnownId = { source: 'event trade_created' }
const lapsed: KnownId = { state: 'missing', retryAfter: hour(-1) }

describe('what is left', () => {
  test('is nothing where every id is fetched', async () => {
    await known(3, { state: 'stored', fetchedAt: hour(-2), fetches: 1 })
    expect(await restOf(warehouse.engine, question, choice(2, 2))).toEqual({
      words: '',
      isWaiting: false,
      ofEvents: 0,
    })
    expect(await restOf(warehouse.engine, question, undefined)).toEqual({
      words: '',
      isWaiting: false,
      ofEvents: 0,
    })
  })

  test.each([
    ['ids never fetched', {}, '1,200 never fetched', true],
    ['records that events changed', signalled, '1,200 changed by events', true],
    [
      'ids that only events name',
      fromEvent,
      '1,200 named by events only, which have a share of the day',
      false,
    ],
    ['failed fetches', lapsed, '1,200 to fetch again', false],
    ['refused ids', { state: 'refused', reason: 'no' } as const, '1,200 refused: no', false],
  ])('may be %s: %s', async (...[, parts, words, isWaiting]) => {
    await known(1200, parts)
    const asked = parts === fromEvent ? question : { ...question, isFromEvents: false }
    const rest = await restOf(warehouse.engine, { ...asked, isFromEvents: false }, undefined)
    expect(rest).toEqual({ words, isWaiting, ofEvents: parts === fromEvent ? 1200 : 0 })
  })

  test('counts stored records that were worth a request and not chosen', async () => {
    await known(2, lapsed)
    const rest = await restOf(warehouse.engine, { ...question, isFromEvents: false }, choice(5, 3))
    expect(rest).toEqual({ words: '4 to fetch again', isWaiting: false, ofEvents: 0 })
  })

  test('counts nothing of a choice among other resources', async () => {
    const others = { worth: new Map([['rates', 5]]), chosen: new Map() }
    expect((await restOf(warehouse.engine, question, others)).words).toBe('')
  })

  test('names every kind in this order', async () => {
    await known(1)
    await known(2, lapsed)
    await known(3, signalled)
    await known(4, fromEvent)
    await known(5, { state: 'refused', reason: 'no' })
    const { words } = await restOf(warehouse.engine, { ...question, isFromEvents: false }, undefined)
    expect(words).toBe(
      '1 never fetched, 2 to fetch again, 3 changed by events, 4 named by events only, which have a share of the day, 5 refused: no',
    )
  })

  test('of a run for events is only what events announced', async () => {
    await known(1)
    await known(2, { signals: 1 })
    await known(3, signalled)
    await known(4, { state: 'refused', reason: 'no' })
    const rest = await restOf(warehouse.engine, { ...question, onlySignalled: true }, undefined)
    expect(rest).toEqual({ words: '2 never fetched, 3 to fetch again', isWaiting: true, ofEvents: 0 })
  })
})

describe('ids without an answer', () => {
  const unanswered: KnownId = { retryAfter: hour(1) }
  test('leave the resource incomplete', async () => {
    await known(2, unanswered)
    await known(3, { state: 'stored', fetchedAt: hour(-2) })
    await expect(requireAnswers(warehouse.engine, question)).rejects.toThrow(
      'trades (saw 3 of 5) incomplete: the service failed to return 2 of them',
    )
  })

  test('is empty where every id has an answer', async () => {
    await known(3, { state: 'stored', fetchedAt: hour(-2) })
    await known(1)
    await expect(requireAnswers(warehouse.engine, question)).resolves.toBeUndefined()
  })
})

describe('why records are left', () => {
  const client = { usage: () => ({ spendable: 12, resetsAt: hour(14) }) } as never
  test('is the budget that was spent, if it was one', () => {
    const reason = new BudgetSpent({ what: 'the day is over', next: 'tomorrow' })
    const error = outOfRequests(client, '3 never fetched', reason)
    expect(error.report).toMatchObject({
      what: '3 never fetched, as the day is over',
      next: 'tomorrow',
      cause: reason,
    })
  })

  test('is the share of the day that later lists need, if none was', () => {
    const { report } = outOfRequests(client, '3 never fetched', undefined)
    expect(report.what).toBe(
      '3 never fetched, as the other 12 requests of today are reserved for the lists of later runs',
    )
    expect(report.next).toMatch(/the next run continues, after/)
  })
})
