/** Where the service may have a file sent, and with which headers. */
import { expect, test } from 'vitest'
import {
  addressProblem,
  allowedUploadHeaders,
  lookupWithin,
  outOfReach,
  uploadFile,
} from '../../src/api/uploads.ts'
import type { AddressKind } from '../../src/lib/web/address-kind.ts'
import { failure, startService } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const near = 'is in a private network or on this machine'

test.each<[string, AddressKind, string | undefined]>([
  ['https://files.example.com/put?sig=1', 'public', undefined],
  ['https://files.example.com:8443/put', 'public', undefined],
  ['http://files.example.com/put', 'public', 'is not https'],
  ['http://files.example.com/put', 'loopback', 'is not https'],
  ['ftp://files.example.com/put', 'public', 'is not https'],
  ['https://me:secret@files.example.com/put', 'public', 'carries credentials'],
  ['nothing', 'public', 'is not an address'],
  ['https://127.0.0.1/put', 'public', near],
  ['https://localhost:9200/put', 'public', near],
  ['https://LOCALHOST./put', 'public', near],
  ['https://x.localhost/put', 'public', near],
  ['https://127.1/put', 'public', near],
  ['https://2130706433/put', 'public', near],
  ['https://[::1]/put', 'public', near],
  ['https://[::ffff:127.0.0.1]/put', 'private', near],
  ['https://10.0.0.5/put', 'public', near],
  ['https://10.0.0.5/put', 'private', undefined],
  ['https://10.0.0.5/put', 'loopback', undefined],
  ['https://169.254.169.254/latest', 'public', near],
  ['https://169.254.169.254/latest', 'loopback', near],
  ['http://127.0.0.1:4010/put', 'public', 'is not https'],
  ['http://127.0.0.1:4010/put', 'private', 'is not https'],
  ['http://127.0.0.1:4010/put', 'loopback', undefined],
  ['http://10.0.0.5/put', 'loopback', 'is not https'],
])('%s for a service at a %s address: %s', (url, service, problem) => {
  expect(addressProblem(url, service)).toBe(problem)
})

test('headers that object stores sign are sent, and no others', () => {
  const kept = {
    'Content-Type': 'application/pdf',
    'content-md5': 'x',
    'x-amz-acl': 'private',
    'X-MS-Blob-Type': 'BlockBlob',
    'x-goog-meta-a': '1',
  }
  const dropped = {
    Host: 'internal',
    Authorization: 'Bearer stolen',
    Cookie: 'a=b',
    'Transfer-Encoding': 'chunked',
    'Content-Length': '1',
    'Proxy-Authorization': 'Basic x',
    Connection: 'upgrade',
    'x-forwarded-for': '127.0.0.1',
    'x-amz-a\r\nHost': 'internal',
    'x-amz-meta-b': 'a\r\nHost: internal',
  }
  expect(allowedUploadHeaders({ ...kept, ...dropped })).toEqual(kept)
})

const to = (uploadUrl: string) => ({
  uploadUrl,
  uploadToken: 't',
  method: 'PUT' as const,
  headers: { Host: 'internal', 'Content-Type': 'application/pdf' },
  expiresIn: 900,
})

test('a service elsewhere cannot have a file sent to a port of this machine, and one on this machine chooses no Host', async () => {
  const service = await startService((_asked, response) => response.end())
  const effects = { clock: virtualClock(), rng: () => 0 }
  const send = (host: string, baseUrl: string) =>
    uploadFile(to(`${host}:${service.port}/put`), Buffer.from('file'), { ...effects, source: { baseUrl } })
  for (const host of [
    'http://127.0.0.1',
    'https://127.0.0.1',
    'https://localhost',
    'https://[::ffff:7f00:1]',
  ])
    expect((await failure(send(host, 'https://1.1.1.1/api/open/v1'))).message).toMatch(
      /^the service names an upload address that is (not https|in a private network or on this machine): nothing was uploaded/,
    )
  expect(service.asked).toEqual([])
  await send('http://127.0.0.1', service.baseUrl)
  expect(service.asked.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${service.port}`])
  await service.close()
})

test.each<[AddressKind, string | undefined]>([
  ['public', outOfReach],
  ['private', outOfReach],
  ['loopback', undefined],
])('a name that resolves to this machine, for a service at a %s address: %s', async (service, code) => {
  const found = await new Promise<unknown>(done =>
    lookupWithin(service)('localhost', {}, error => done(Object(error).code)),
  )
  expect(found).toBe(code)
})
