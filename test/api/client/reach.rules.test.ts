/** How long a host that accepts no connection is tried, and who is notified. */
import { describe, expect, test } from 'vitest'
import { RetriableError } from '../../../src/api/client/errors.ts'
import { Reach } from '../../../src/api/client/reach.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const error = new RetriableError({ request: 'GET /me' }, { what: 'no connection', next: 'check baseUrl' })

function setUp(patienceMs?: number) {
  const clock = virtualClock()
  const since = clock.now()
  const said: string[] = []
  const reach = new Reach({ clock, patienceMs, onUnreached: sentence => void said.push(sentence) })
  /** The bounds of the next attempt, in milliseconds since the first, after so many. */
  const failedAfter = (ms: number, attempt = 3) => {
    clock.set(since + ms)
    return reach.failed(error, { attempt, since })?.map(moment => moment - since)
  }
  return { reach, said, failedAfter }
}

describe('a host that never answered', () => {
  test.each([
    [0, undefined, [500, 5_000]],
    [4_999, undefined, [5_499, 5_000]],
    [4_999, 60_000, [5_499, 5_000]],
    [5_000, 60_000, [5_500, 60_000]],
    [59_999, 60_000, [60_499, 60_000]],
  ])('is tried again after %i ms with a patience of %s', (passed, patience, bounds) => {
    expect(setUp(patience).failedAfter(passed)).toEqual(bounds)
  })

  test.each([
    [5_000, undefined, 5],
    [5_000, 0, 5],
    [5_000, 4_000, 5],
    [60_000, 60_000, 60],
  ])('is given up after %i ms with a patience of %s', (passed, patience, seconds) => {
    const { failedAfter } = setUp(patience)
    expect(() => failedAfter(passed)).toThrow(
      `no connection (GET /me, tried 3 times in ${seconds} s): check baseUrl; --wait 10m keeps trying`,
    )
  })

  test('is said to be unreached once, when five seconds have passed', () => {
    const { said, failedAfter } = setUp(60_000)
    failedAfter(4_999)
    expect(said).toEqual([])
    failedAfter(5_000, 9)
    failedAfter(6_000)
    expect(said).toEqual(['no connection, tried 9 times in 5 s; trying again'])
  })

  test('was tried for at least a second, and need not be reported', () => {
    const clock = virtualClock()
    const reach = new Reach({ clock })
    expect(() => reach.failed(error, { attempt: 1, since: clock.now() - 5_400 })).toThrow('in 5 s')
    const patient = new Reach({ clock, patienceMs: 60_000 })
    expect(patient.failed(error, { attempt: 1, since: clock.now() - 5_400 })).toBeDefined()
  })
})

describe('a host that answered before', () => {
  test.each([
    [undefined, 0],
    [undefined, 90_000],
    [5_000, 90_000],
  ])('gets the default number of attempts with a patience of %s, after %i ms', (patience, passed) => {
    const { reach, failedAfter } = setUp(patience)
    reach.answered()
    expect(failedAfter(passed)).toBeUndefined()
  })

  test('is waited for where that was asked for', () => {
    const { reach, failedAfter } = setUp(5_001)
    reach.answered()
    expect(failedAfter(5_000)).toEqual([5_500, 5_001])
    expect(() => failedAfter(5_001)).toThrow('--wait 10m')
  })

  test('is said to be unreached again when it is lost again', () => {
    const { reach, said, failedAfter } = setUp(60_000)
    failedAfter(5_000)
    reach.answered()
    failedAfter(5_000)
    expect(said).toHaveLength(2)
  })

  test('is said to be unreached although attempts decide', () => {
    const { reach, said, failedAfter } = setUp()
    reach.answered()
    failedAfter(7_000)
    expect(said).toEqual(['no connection, tried 3 times in 7 s; trying again'])
  })
})
