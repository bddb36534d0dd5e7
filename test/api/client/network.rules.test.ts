/** What a failed connection means: retry, correct the settings, or blame the proxy. */
import { describe, expect, test } from 'vitest'
import { ProxyFailure } from '../../../src/api/agent.ts'
import { NotTheService, RetriableError } from '../../../src/api/client/errors.ts'
import { isUnreached, networkFailure, neverArrived, tooSlowCode } from '../../../src/api/client/network.ts'

const facts = { request: 'GET /sites' }
const words = { what: 'w', next: 'n' }
const proxy = { url: 'http://proxy:3128', variable: 'HTTPS_PROXY' } as const
const coded = (code: string): Error => Object.assign(new Error(code), { code })
const direct = { host: 'h.example', proxy: undefined }
const failure = (code: string) => networkFailure(coded(code), facts, direct)

const late = 'h.example did not answer in time'
const unresolved = 'the host name h.example cannot be resolved'
const refusing = 'h.example accepts no connection'
const untrusted = 'no trusted TLS connection to h.example'
const lost = 'the connection to h.example broke'

describe('a failed connection', () => {
  test.each([
    [tooSlowCode, 'RetriableError', late],
    ['ETIMEDOUT', 'RetriableError', late],
    ['UND_ERR_CONNECT_TIMEOUT', 'RetriableError', late],
    ['UND_ERR_HEADERS_TIMEOUT', 'RetriableError', late],
    ['UND_ERR_BODY_TIMEOUT', 'RetriableError', late],
    ['ENOTFOUND', 'RetriableError', unresolved],
    ['EAI_AGAIN', 'RetriableError', unresolved],
    ['ECONNREFUSED', 'RetriableError', refusing],
    ['EHOSTUNREACH', 'RetriableError', refusing],
    ['ENETUNREACH', 'RetriableError', refusing],
    ['ECONNRESET', 'RetriableError', lost],
    ['XEPROTO', 'RetriableError', lost],
    ['UND_ERR_DESTROYED', 'BadRequest', 'the client is closed'],
    ['UND_ERR_CLOSED', 'BadRequest', 'the client is closed'],
    ['EPROTO', 'ConfigError', untrusted],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'ConfigError', untrusted],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'ConfigError', untrusted],
    ['CERT_HAS_EXPIRED', 'ConfigError', untrusted],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ConfigError', untrusted],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'ConfigError', untrusted],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ConfigError', untrusted],
    ['HOSTNAME_MISMATCH', 'ConfigError', untrusted],
    ['INVALID_CA', 'ConfigError', untrusted],
    ['INVALID_PURPOSE', 'ConfigError', untrusted],
    ['ENOMEM', 'MusterError', 'the system gives this process no more memory or address space'],
  ])('with %s is a %s: %s', (code, name, what) => {
    const found = failure(code)
    expect([found.name, found.report.what]).toEqual([name, what])
  })

  test('names the code and keeps the error', () => {
    const error = coded('ECONNRESET')
    const found = networkFailure(error, facts, direct)
    expect([found.report.where, found.cause]).toEqual(['GET /sites: ECONNRESET', error])
    expect(failure('CERT_HAS_EXPIRED').report.where).toBe('GET /sites: CERT_HAS_EXPIRED')
  })

  test.each<[string, unknown, string]>([
    ['of its cause', new Error('fetch failed', { cause: coded('ENOTFOUND') }), 'ENOTFOUND'],
    [
      'of the cause of its cause',
      new Error('a', { cause: new Error('b', { cause: coded('EPIPE') }) }),
      'EPIPE',
    ],
    ['of its own before that of its cause', Object.assign(coded('EPIPE'), { cause: coded('X') }), 'EPIPE'],
    [
      'of its cause where its own is no text',
      Object.assign(new Error('a', { cause: coded('X') }), { code: 7 }),
      'X',
    ],
    ['unknown where it has none', new Error('a'), 'unknown'],
    ['unknown where it is no error', { code: 'EPIPE' }, 'unknown'],
    ['unknown where it is nothing', undefined, 'unknown'],
  ])('has the code %s', (_name, error, code) => {
    expect(networkFailure(error, facts, direct).report.where).toBe(`GET /sites: ${code}`)
  })
})

describe('a failure on the way to a proxy', () => {
  const through = (error: unknown) => networkFailure(error, facts, { host: 'h.example', proxy })
  const name = 'the proxy http://proxy:3128 (HTTPS_PROXY)'

  test.each([
    ['PROXY_407', 'RetriableError', `${name} requires a user name and a password, or rejects them`],
    ['PROXY_403', 'RetriableError', `${name} refuses to connect to h.example`],
    ['CERT_HAS_EXPIRED', 'ConfigError', `no trusted TLS connection to ${name}`],
    ['ECONNREFUSED', 'RetriableError', `${name} was not reached`],
  ])('%s is a %s: %s', (code, kind, what) => {
    const error = new ProxyFailure(code, new Error('x'))
    const found = through(error)
    expect([found.name, found.report.what, found.report.where]).toEqual([kind, what, `GET /sites: ${code}`])
    expect(found.cause).toBe(error)
  })

  test('is omitted where the error is about the host, or no proxy is used', () => {
    expect(through(coded('ECONNREFUSED')).report.what).toBe(refusing)
    const error = new ProxyFailure('ECONNREFUSED', new Error('x'))
    expect(networkFailure(error, facts, direct).report.what).toBe(refusing)
  })
})

describe('no byte of a request can have arrived', () => {
  test.each<[string | undefined, number | undefined, boolean, boolean]>([
    ['ENOTFOUND', undefined, true, true],
    ['EAI_AGAIN', undefined, true, true],
    ['ECONNREFUSED', undefined, true, true],
    ['UND_ERR_CONNECT_TIMEOUT', undefined, true, true],
    ['EHOSTUNREACH', undefined, false, true],
    ['ENETUNREACH', undefined, false, true],
    ['PROXY_407', undefined, true, false],
    ['PROXY_502', undefined, true, false],
    ['XPROXY_', undefined, false, false],
    ['ECONNRESET', undefined, false, false],
    ['ETIMEDOUT', undefined, false, false],
    [undefined, undefined, false, false],
    ['ECONNREFUSED', 500, false, false],
    [undefined, 429, true, false],
    [undefined, 503, false, false],
    [undefined, 200, false, false],
  ])('%s with status %s: %s; there was no connection: %s', (...[code, status, arrivedNot, unreached]) => {
    const error = new RetriableError({ ...facts, code, ...(status !== undefined && { status }) }, words)
    expect([neverArrived(error), isUnreached(error)]).toEqual([arrivedNot, unreached])
  })

  test('but with a 429 of something in between one may have', () => {
    expect(neverArrived(new NotTheService({ ...facts, status: 429 }, words))).toBe(false)
  })
})
