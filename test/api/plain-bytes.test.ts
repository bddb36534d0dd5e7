/** Answers whose bytes were compressed or padded by something on their way are read as if nothing had happened. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { plainBytes } from '../../src/api/plain-bytes.ts'
import { failure, listPage, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const json = Buffer.from('{"success":true,"data":[1]}')
const bom = Buffer.from([0xef, 0xbb, 0xbf])

test.each<[string, Buffer, string | string[] | undefined]>([
  ['plain', json, undefined],
  ['identity', json, 'identity'],
  ['gzip', gzipSync(json), 'gzip'],
  ['x-gzip', gzipSync(json), 'X-GZIP'],
  ['gzip without its header', gzipSync(json), undefined],
  ['gzip named deflate', gzipSync(json), 'deflate'],
  ['a header that outlived its gzip', json, 'gzip'],
  ['a header that outlived its br', json, 'br'],
  ['deflate', deflateSync(json), 'deflate'],
  ['deflate without a header', deflateRawSync(json), 'deflate'],
  ['br', brotliCompressSync(json), 'br'],
  ['gzip, then br', brotliCompressSync(gzipSync(json)), 'gzip, br'],
  ['two headers', brotliCompressSync(gzipSync(json)), ['gzip', 'br']],
  ['gzip with NUL bytes behind it', Buffer.concat([gzipSync(json), Buffer.alloc(512)]), 'gzip'],
  ['a BOM', Buffer.concat([bom, json]), undefined],
  ['a BOM within gzip', gzipSync(Buffer.concat([bom, json])), 'gzip'],
  ['NUL bytes behind it', Buffer.concat([json, Buffer.alloc(1_000)]), undefined],
  [
    'white space around it',
    Buffer.concat([Buffer.from('\r\n\t '), bom, json, Buffer.from('\n \0')]),
    undefined,
  ],
])('%s', async (_name, bytes, encoding) => {
  expect((await plainBytes(bytes, encoding, 1_000))?.toString()).toBe(json.toString())
})

test.each([
  [1_000, 1_000],
  [1_001, undefined],
])('%i bytes out of gzip where 1,000 are allowed are %s', async (size, length) => {
  const bytes = gzipSync(Buffer.alloc(size, 'x'))
  expect((await plainBytes(bytes, 'gzip', 1_000))?.length).toBe(length)
})

test('nothing, white space alone and a broken stream are left for the envelope to refuse', async () => {
  expect((await plainBytes(Buffer.alloc(0), 'gzip', 10))?.length).toBe(0)
  expect((await plainBytes(Buffer.from(' \0\n'), undefined, 10))?.length).toBe(0)
  const cut = gzipSync(json).subarray(0, 15)
  expect(await plainBytes(cut, 'gzip', 100)).toEqual(cut)
})

test('a page, a record and a refusal that come compressed or padded are read, and a page keeps only its JSON', () =>
  withClient(
    (asked, response) => {
      const send = (status: number, body: object) => {
        const padded = Buffer.concat([bom, Buffer.from(JSON.stringify(body)), Buffer.alloc(3)])
        response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(padded))
      }
      if (asked.path === '/sites') send(200, listPage(asked, 2))
      else if (asked.path === '/sites/s1') send(200, { success: true, data: { id: 's1' } })
      else send(403, { success: false, error: { code: 'FORBIDDEN', message: 'no' } })
    },
    async client => {
      const page = await client.getPage('/sites')
      expect(page.bytes.toString()).toMatch(/^\{"success":true.*\}$/)
      expect(page.records()).toHaveLength(2)
      expect((await client.getRecord('/sites/s1')).record).toEqual({ id: 's1' })
      expect((await failure(client.getPage('/users'))).name).toBe('AccessDenied')
    },
  ))

test('a page that is small as gzip and larger than the cap is refused as too large', () =>
  withClient(
    (_asked, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(2_000_000, ' '))),
    async client => expect((await failure(client.getRecord('/sites/s1'))).name).toBe('AnswerTooLarge'),
    { clock: virtualClock(), fetchOptions: { maxBytes: 100_000 } },
  ))
