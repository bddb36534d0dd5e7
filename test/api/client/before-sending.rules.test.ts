/** What is refused before anything is sent: keys, paths, pages, bodies and addresses. */
import { describe, expect, test } from 'vitest'
import {
  readBaseUrl,
  requireBodySize,
  requireKey,
  requirePage,
  requirePath,
} from '../../../src/api/client/before-sending.ts'

/** What it is refused for; undefined when it is not. */
function refusalOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('a key', () => {
  test.each([
    ['sk_live_4f9c', undefined],
    ['!~', undefined],
    ['', 'the API key is empty'],
    [' ', 'the API key contains spaces or unprintable characters'],
    [' key', 'the API key contains spaces or unprintable characters'],
    ['key\n', 'the API key contains spaces or unprintable characters'],
    ['two words', 'the API key contains spaces or unprintable characters'],
    ['\u007f', 'the API key contains spaces or unprintable characters'],
    ['ключ', 'the API key contains spaces or unprintable characters'],
  ])('%j: %s', (key, what) => {
    const found = refusalOf(() => requireKey(key))
    expect(found).toBe(what && `${what}: put the key alone, on one line, where apiKey is read from`)
  })
})

describe('a path', () => {
  test.each([
    '/sites',
    '/companies/c1/competency-matrix',
    '/trades/a:b~c.d_e-f',
    '/trades/a%3Ab',
    '/trades/...',
    '/trades/.a',
    '/trades/a..',
    '/trades/..a/b',
    '/trades/%2',
  ])('%s is sent', path => expect(refusalOf(() => requirePath(path))).toBeUndefined())

  test.each([
    '',
    'trades',
    'x/trades',
    '/trades/',
    '/trades//a',
    '/trades/a b',
    '/trades/a?x=1',
    '/trades/a#b',
    '/trades/ä',
    '/trades/a\n',
    '/trades/..',
    '/trades/.',
    '/trades/../me',
    '/trades/./me',
    '/trades/a%2Eb',
    '/trades/a%2eb',
    '/trades/a%2Fb',
    '/trades/a%5Cb',
    '/trades/a%00b',
  ])('%j is not sent', path => {
    expect(refusalOf(() => requirePath(path))).toMatch(/is not a path \(GET\): check baseUrl/)
  })

  test('of a write says that nothing was changed, and quotes at most 100 characters', () => {
    const found = refusalOf(() => requirePath(`?${'x'.repeat(200)}`, 'POST'))
    expect(found).toBe(
      `"?${'x'.repeat(99)}" is not a path (POST): correct what the service names and send it again; nothing was changed`,
    )
  })
})

describe('a page', () => {
  test.each([
    [1, 1, true],
    [1, 200, true],
    [999, 200, true],
    [0, 200, false],
    [-1, 200, false],
    [1.5, 200, false],
    [Number.NaN, 200, false],
    [1, 0, false],
    [1, 201, false],
    [1, 1.5, false],
    [1, Number.NaN, false],
  ])('%f of %f rows is asked for: %s', (page, limit, isSent) => {
    const found = refusalOf(() => requirePage('/sites', { page, limit }, { page, limit }))
    expect(found === undefined).toBe(isSent)
    if (!isSent)
      expect(found).toContain(`page or limit is out of range (GET /sites?page=${page}&limit=${limit})`)
  })
})

test('a body of 50 MB is sent, one byte more is not; bytes count, not characters', () => {
  const most = 50 * 1024 * 1024
  expect(refusalOf(() => requireBodySize('POST /workers', 'x'.repeat(most)))).toBeUndefined()
  expect(refusalOf(() => requireBodySize('POST /workers', 'x'.repeat(most + 1)))).toBe(
    'the body has 52428801 bytes, more than 50 MB (POST /workers): correct what the service names and send it again; nothing was changed',
  )
  expect(refusalOf(() => requireBodySize('POST /workers', 'é'.repeat(most / 2 + 1)))).toContain(
    '52428802 bytes',
  )
})

describe('an address', () => {
  test.each([
    ['https://h.example/api', 'https://h.example/api'],
    ['https://h.example/api/open/v1/', 'https://h.example/api/open/v1'],
    ['https://h.example/a//b//', 'https://h.example/a//b'],
    ['https://h.example:8443/api', 'https://h.example:8443/api'],
    ['http://localhost:1/api', 'http://localhost:1/api'],
    ['http://127.0.0.2/api', 'http://127.0.0.2/api'],
  ])('%s is read as %s', (text, href) => expect(readBaseUrl(text).href).toBe(href))

  const next = 'write it as https://host/api/open/v1'
  test.each([
    ['h.example/api', `baseUrl is not an address: ${next}`],
    ['https://h.example', `baseUrl ends without a path (h.example): ${next}`],
    ['https://h.example/', `baseUrl ends without a path (h.example): ${next}`],
    ['https://h.example///', `baseUrl ends without a path (h.example): ${next}`],
    ['http://h.example/api', `baseUrl is not https (h.example): ${next}`],
    ['http://localhost.evil.example/api', `baseUrl is not https (localhost.evil.example): ${next}`],
    ['ftp://localhost/api', `baseUrl is not https (localhost): ${next}`],
    ['https://user@h.example/api', `baseUrl carries credentials: ${next}`],
    ['https://:pass@h.example/api', `baseUrl carries credentials: ${next}`],
    ['http://user:pass@h.example/api?x', `baseUrl carries credentials: ${next}`],
    ['https://h.example/api?', `baseUrl carries a query or a fragment (h.example): ${next}`],
    ['https://h.example/api#', `baseUrl carries a query or a fragment (h.example): ${next}`],
  ])('%s is refused: %s', (text, message) => expect(refusalOf(() => readBaseUrl(text))).toBe(message))
})
