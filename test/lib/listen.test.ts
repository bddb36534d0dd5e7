/** What a server says that cannot listen: one line with the option that helps. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Busy, UsageError } from '../../src/lib/errors.ts'
import { listen, type Port } from '../../src/lib/web/listen.ts'
import { openDuckdb } from '../../src/warehouse/on-demand.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const other = createServer()
let taken: number

beforeAll(async () => {
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  taken = (other.address() as { port: number }).port
})
afterAll(() => other.close())

/** A server that the system answers so. */
const refusing = (code: string) => ({
  listen: async () => {
    throw Object.assign(new Error(`listen ${code}: somewhere`), { code, syscall: 'listen' })
  },
  server: { address: () => null },
})

const refusal = (code: string, place: Port) => listen(refusing(code), place).catch(error => error)
const flags = { host: '--dashboard-host', port: '--dashboard-port' }

test.each([
  [
    'EADDRINUSE',
    { host: '127.0.0.1', port: 8090 },
    'port 8090 is in use by another process (127.0.0.1:8090): choose another with --port, or any free one with --port 0',
  ],
  [
    'EADDRINUSE',
    { host: '::1', port: 8090, flags },
    'port 8090 is in use by another process ([::1]:8090): choose another with --dashboard-port, or any free one with --dashboard-port 0',
  ],
  [
    'EACCES',
    { host: '0.0.0.0', port: 80 },
    'this user may not listen on port 80 (0.0.0.0:80): choose one above 1023 with --port, and let a proxy forward 80 to it',
  ],
  [
    'EADDRNOTAVAIL',
    { host: '192.0.2.1', port: 8090, flags },
    '192.0.2.1 is not an address of this machine (192.0.2.1:8090): choose one with --dashboard-host: 127.0.0.1 for this machine alone, 0.0.0.0 for every network',
  ],
  [
    'ENOTFOUND',
    { host: 'no.invalid', port: 1 },
    'no.invalid is not an address of this machine (no.invalid:1): choose one with --host: 127.0.0.1 for this machine alone, 0.0.0.0 for every network',
  ],
  [
    'EPERM',
    { host: '127.0.0.1', port: 1 },
    'the system does not allow listening (EPERM) (127.0.0.1:1): choose another address with --host and --port',
  ],
])('%s at %j', async (code, place, words) => {
  expect((await refusal(code, place)).message).toBe(words)
})

test('a taken port may be free later, and any other refusal is of the command line', async () => {
  expect(await refusal('EADDRINUSE', { host: '127.0.0.1', port: 1 })).toBeInstanceOf(Busy)
  expect(await refusal('EACCES', { host: '127.0.0.1', port: 1 })).toBeInstanceOf(UsageError)
})

test('a failure of the server itself stays what it is', async () => {
  const broken = { ...refusing('x'), listen: () => Promise.reject(new TypeError('a mistake')) }
  await expect(listen(broken, { host: '127.0.0.1', port: 0 })).rejects.toThrow(TypeError)
})

describe('in one line', () => {
  const cwd = temporaryFolder()
  const env = {
    MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
    MUSTER_API_KEY: 'key-0123456789',
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    MUSTER_WEBHOOK_SECRET: 'whsec-0123456789abcdef0123456789abcdef',
  }
  beforeAll(async () => (await openDuckdb(join(cwd, 'w.duckdb'))).close())

  const inUse = (port: number, flag: string): string =>
    `muster: port ${port} is in use by another process (127.0.0.1:${port}): choose another with ${flag}, or any free one with ${flag} 0\n`

  test.each([
    ['sandbox --scale 0.01 --port PORT', '--port'],
    ['serve --no-schedule --port PORT', '--port'],
    ['serve --no-schedule --port 0 --dashboard --dashboard-port PORT', '--dashboard-port'],
    ['dashboard --port PORT', '--port'],
  ])('%s says that the port is taken', async (line, flag) => {
    const { code, err } = await muster(line.replace('PORT', String(taken)), { cwd, env })
    expect([code, err]).toEqual([75, inUse(taken, flag)])
  })

  test.each([
    ['serve --no-schedule --port 0 --host 192.0.2.1', '--host'],
    ['dashboard --port 0 --host 192.0.2.1', '--host'],
    ['serve --no-schedule --port 0 --dashboard --dashboard-host 192.0.2.1', '--dashboard-host'],
  ])('%s says that the address is of another machine', async (line, flag) => {
    const { code, err } = await muster(line, { cwd, env })
    expect([code, err.split('\n').length]).toEqual([2, 2])
    expect(err).toContain(`192.0.2.1 is not an address of this machine`)
    expect(err).toContain(`choose one with ${flag}:`)
  })
})
