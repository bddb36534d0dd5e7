/** Changes that must not happen twice, what observers see, and how many requests go at a time. */
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import type { SentRequest } from '../../../src/api/client/sender.ts'
import { failure } from '../../support/http-service.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { held, settled } from '../delayed-answers.ts'
import {
  type Answering,
  broken,
  done,
  fails,
  firstly,
  listReply,
  memoryService,
  offline,
} from './memory-service.ts'

const write = { method: 'POST', path: '/workers', body: {} } as const

describe('a change', () => {
  test.each<[string, Answering]>([
    ['the service failed', fails(500)],
    ['the answer was cut', () => ({ body: '{"success":true,"data":' })],
    ['the connection broke', offline('ECONNRESET')],
    ['something in between answered', () => ({ status: 429, body: '<html>' })],
  ])('is sent once, and left open, when %s', async (_name, answering) => {
    const { client, asked } = memoryService(answering)
    expect([(await failure(client.write(write))).name, asked.length]).toEqual(['WriteUnsettled', 1])
  })

  test.each<[string, Answering]>([
    ['the minute was full', fails(429)],
    ['there was no connection', offline('ECONNREFUSED')],
  ])('is sent again when %s, as nothing arrived', async (_name, answering) => {
    const { client, asked } = memoryService(asked => (asked.nth === 1 ? answering : done)(asked))
    expect((await client.write(write)).record).toEqual({ id: 'x' })
    expect(asked).toHaveLength(2)
  })

  test('that may be repeated is sent again after any failure', async () => {
    const { client, asked } = memoryService(asked => (asked.nth === 1 ? fails(500) : done)(asked))
    await client.write({ ...write, isRepeatable: true })
    expect(asked).toHaveLength(2)
  })

  test('shows no value of its body', async () => {
    const { client } = memoryService(() => ({
      body: { success: false, error: { code: 'C', message: 'no Roe' } },
    }))
    const error = await failure(client.write({ ...write, hide: ['Roe'] }))
    expect(error.message).toContain('"no [value]"')
  })
})

describe('observers', () => {
  test('see every attempt, its time, and each date of the service', async () => {
    const seen: SentRequest[] = []
    const dates: (string | undefined)[] = []
    const clock = virtualClock()
    const slow: Answering = asked => {
      clock.advance(40)
      return { ...listReply(asked, 0), headers: { date: 'd2' } }
    }
    const me: Answering = () => ({ body: { success: true, data: {} }, headers: { date: 'd1' } })
    const options = { me, clock, onRequest: (one: SentRequest) => void seen.push(one) }
    const { client } = memoryService(firstly(fails(503, { date: 'd0' }), slow), {
      ...{ ...options, onDate: date => void dates.push(date) },
    })
    const page = await client.getPage('/a')
    expect(seen.map(({ path, status, attempt, ms }) => [path, status, attempt, ms])).toEqual([
      ['/me', 200, 1, 0],
      ['/a', 503, 1, 0],
      ['/a', 200, 2, 40],
    ])
    expect([seen[2]?.bytes, dates, page.fetchedAt]).toEqual([
      ...[page.bytes.length, ['d1', 'd2']],
      new Date(clock.now()).toISOString(),
    ])
  })

  test('hear of no date of an answer in another form', async () => {
    const dates: (string | undefined)[] = []
    const foreign: Answering = () => ({ body: '<html>', headers: { date: 'd' } })
    const { client } = memoryService(foreign, { onDate: date => void dates.push(date) })
    await failure(client.getPage('/a'))
    expect(dates).toEqual([undefined])
  })
})

describe('requests at a time', () => {
  test('are no more than connections, and count as under way until they are answered', async () => {
    const answered = held()
    const { client, asked } = memoryService(
      async asked => {
        await answered.promise
        return listReply(asked, 0)
      },
      { fetchOptions: { connections: 2 } },
    )
    await client.getMe()
    const pages = ['/a', '/b', '/c'].map(path => client.getPage(path))
    await settled()
    expect(asked).toHaveLength(2)
    answered.end()
    await Promise.all(pages)
    expect(asked).toHaveLength(3)
  })

  test('end in the minute when they fail too', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, perMinute: 2 })
    const me: Answering = () => ({ body: { success: true, data: { rateLimitPerMinute: 2 } } })
    const { client } = memoryService(fails(404), { clock, budget, me })
    for (const path of ['/trades/a', '/trades/b', '/trades/c']) await failure(client.getRecord(path))
    expect(clock.slept).toEqual([60_030])
  })

  test('ask for slots with the purpose, and with whether they ask for the limits', async () => {
    const taken: unknown[] = []
    const clock = virtualClock()
    const budget = createBudget({ clock })
    const noted: typeof budget = {
      take: (purpose, options) => {
        taken.push([purpose, options?.asksLimits])
        return budget.take(purpose, options)
      },
      refusal: purpose => budget.refusal(purpose),
      spendRetry: () => budget.spendRetry(),
      pause: ms => budget.pause(ms),
      refresh: (...parts) => budget.refresh(...parts),
      usage: () => budget.usage(),
    }
    const { client } = memoryService(done, { clock, budget: noted })
    await client.getRecord('/trades/x', {}, { purpose: 'reconcile' })
    await client.write(write)
    expect(taken).toEqual([
      ['operator', true],
      ['reconcile', false],
      ['operator', false],
    ])
  })
})

test('a run that is stopped while a request queues ends with its own reason', async () => {
  const stop = new AbortController()
  const { client, asked } = memoryService(
    async () => {
      stop.abort(new Error('stopped by hand'))
      throw broken('UND_ERR_ABORTED')
    },
    { signal: stop.signal },
  )
  expect((await failure(client.getPage('/a'))).message).toBe('stopped by hand')
  expect((await failure(client.getPage('/a'))).message).toBe('stopped by hand')
  expect(asked).toHaveLength(1)
})
