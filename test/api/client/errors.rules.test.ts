/** What each status means, and what each failure says. */
import { describe, expect, test } from 'vitest'
import {
  AnswerTooLarge,
  BadAnswer,
  BadRequest,
  badAnswer,
  Conflict,
  failureOf,
  KeyRefused,
  NotTheService,
  notTheService,
  RetriableError,
  strayRefusal,
  WriteUnsettled,
} from '../../../src/api/client/errors.ts'

const facts = { request: 'GET /sites', code: 'C', message: 'm' }

describe('a status of the service', () => {
  test.each([
    [300, 'BadRequest'],
    [400, 'BadRequest'],
    [401, 'KeyRefused'],
    [402, 'BadRequest'],
    [403, 'AccessDenied'],
    [404, 'NotFound'],
    [405, 'BadRequest'],
    [407, 'BadRequest'],
    [408, 'RetriableError'],
    [409, 'Conflict'],
    [410, 'NotFound'],
    [411, 'BadRequest'],
    [424, 'BadRequest'],
    [425, 'RetriableError'],
    [426, 'BadRequest'],
    [429, 'RetriableError'],
    [451, 'AccessDenied'],
    [499, 'BadRequest'],
    [500, 'RetriableError'],
    [599, 'RetriableError'],
  ])('%i is %s', (status, name) => {
    const failure = failureOf(status, facts)
    expect([failure.name, failure.status, failure.code, failure.serverMessage]).toEqual([
      name,
      status,
      'C',
      'm',
    ])
  })

  test.each([200, 300, 400, 401, 403, 404, 408, 409, 410, 425, 429, 451, 500, 503])(
    '%i in another form is not of the service',
    status => expect(failureOf(status, facts, 'a page of HTML')).toBeInstanceOf(NotTheService),
  )

  test('a full minute differs from a broken service', () => {
    expect(failureOf(429, facts).report.what).toBe('the service says the rate limit is reached')
    expect(failureOf(503, facts).report.what).toBe('the service failed')
    expect(failureOf(503, facts, 'a page of HTML').report.what).toBe('the service failed')
  })

  test.each([
    [299, 'x'],
    [300, 'a redirect to https://h'],
    [399, 'a redirect to https://h'],
    [400, 'x'],
  ])('%i in another form is described as %s', (status, found) => {
    const failure = failureOf(status, { request: 'r', location: 'https://h' }, 'x')
    expect(failure.report.what).toBe(`the answer does not come from the service: ${found}`)
  })

  test('a redirect to nowhere is one too', () => {
    expect(failureOf(302, { request: 'r' }, 'x').report.what).toContain(': a redirect')
    expect(failureOf(302, { request: 'r' }, 'x').report.what).not.toContain(' to ')
  })

  test('only a refused key ends with exit 78', () => {
    expect([401, 403, 404, 409, 500].map(status => failureOf(status, facts).exitCode)).toEqual([
      78, 1, 1, 1, 1,
    ])
  })
})

describe('where it happened', () => {
  test.each([
    ['names the request alone', { request: 'GET /a' }, 'GET /a'],
    ['adds the status', { request: 'GET /a', status: 500 }, 'GET /a: 500'],
    ['adds code and message', { ...facts, status: 400 }, 'GET /sites: 400 C "m"'],
    ['leaves an empty message out', { request: 'GET /a', message: '', code: 'C' }, 'GET /a: C'],
  ])('%s', (_name, known, where) => expect(badAnswer(known, 'x').report.where).toBe(where))
})

describe('a failure', () => {
  test.each([
    [403, false, 'the key may not read this'],
    [403, true, 'the key may not write this'],
  ])('%i of a write, %s, says so: %s', (status, isWrite, what) => {
    expect(failureOf(status, { ...facts, isWrite }).report.what).toBe(what)
  })

  test.each([
    [401, 'the service refuses the API key', 'put a valid key where apiKey is read from'],
    [403, 'the key may not read this', 'IP allowlist'],
    [404, 'not found', 'if every path answers so, check baseUrl'],
  ])('%i says what happened and what to do: %s', (...[status, what, next]) => {
    const { report } = failureOf(status, facts)
    expect([report.what, report.next]).toEqual([what, expect.stringContaining(next)])
  })

  test('of a write that was rejected says that nothing was changed', () => {
    expect(new BadRequest(facts).report).toMatchObject({
      what: 'the service rejects the request',
      next: 'check baseUrl and the settings; if they are right, report this as a bug',
    })
    expect(new BadRequest({ ...facts, isWrite: true }, 'x').report).toMatchObject({
      what: 'x',
      next: 'correct what the service names and send it again; nothing was changed',
    })
  })

  test.each([
    ['WORKER_MATCH_REQUIRES_REVIEW', true, 'a matching worker exists', 'review the match'],
    ['OTHER', false, 'it conflicts with another record', 'compare National Insurance number'],
  ])('of a worker that exists, %s, needs a review: %s', (...[code, needsReview, what, next]) => {
    const conflict = new Conflict({ ...facts, code })
    expect([conflict.needsReview, conflict.report.what]).toEqual([needsReview, what])
    expect(conflict.report.next).toContain(next)
  })

  test('keeps its cause, and names the most bytes', () => {
    const cause = new Error('socket')
    expect(badAnswer({ ...facts, cause }, 'x').cause).toBe(cause)
    expect(new AnswerTooLarge(facts, 7).report.what).toBe('bad answer: more than 7 bytes')
  })

  test('that leaves a write open keeps what is known, and says what to look for', () => {
    const cause = badAnswer({ ...facts, status: 200 }, 'data is missing')
    const open = new WriteUnsettled(cause)
    expect([open.report.what, open.cause, open.status, open.code]).toEqual([
      'it is unknown whether this was done: bad answer: data is missing',
      ...[cause, 200, 'C'],
    ])
    expect(open.report.next).toContain('look for the change')
  })
})

describe('after the last attempt', () => {
  test.each([
    ['a bad answer', badAnswer(facts, 'x'), BadAnswer],
    ['an answer of something else', notTheService(facts, 'x'), NotTheService],
    ['another failure', new RetriableError(facts, { what: 'x', next: 'n' }), RetriableError],
  ])('%s is of the same class, and says how often it was tried', (_name, failure, kind) => {
    const last = failure.final('sent 6 times', '; --wait')
    expect(last.constructor).toBe(kind)
    expect([last.cause, last.report.what, last.report.where]).toEqual([
      ...[failure, failure.report.what],
      'GET /sites, sent 6 times: C "m"',
    ])
    expect(last.report.next).toBe(`${failure.report.next}; --wait`)
    expect(failure.final('x').report.next).toBe(failure.report.next)
  })

  test('a refusal of a key that /me accepts is no fault of the key', () => {
    const stray = strayRefusal(new KeyRefused({ ...facts, status: 401 }))
    expect([stray.constructor, stray.exitCode, stray.status]).toEqual([RetriableError, 1, 401])
    expect(stray.report.where).toBe('GET /sites, sent 2 times: 401 C "m"')
  })
})
