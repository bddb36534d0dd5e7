/** What may be wrong around the program: one line on stderr says so, and nothing is spent that could not be kept. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { muster } from '../support/captured-world.ts'
import { selfSigned } from '../support/certificate.ts'
import { musterOfUser, skipped } from '../support/ordinary-user.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'
import { holdFile } from './locked-file.ts'

const reading = {
  'status --json': '"isPublished": true',
  'runs --json': '"sync"',
  'sql --json from ops.run': '"sync"',
}

let place: Place

/** A file like the warehouse, for tests that spoil it. */
function copied(name: string): string {
  const file = join(place.cwd, name)
  copyFileSync(place.file, file)
  return file
}

const spent = () => place.sandbox.requests.length

interface Ended {
  readonly code: number | null
  readonly err: string
}

function expectOneLine({ code, err }: Ended, wanted: { code: number; line: RegExp }): void {
  expect(err).toMatch(wanted.line)
  expect([code, err.trimEnd().split('\n').length]).toEqual([wanted.code, 1])
  expect(err).not.toMatch(/unexpected|\n\s+at /)
}

beforeAll(async () => {
  place = await openPlace({ misdirects: true })
  expect((await place.command('sync --quiet')).code).toBe(0)
  expect((await place.command('publish')).code).toBe(0)
})

describe('a file that another process holds', () => {
  let holder: number
  beforeAll(async () => {
    holder = await holdFile(place.file)
  })

  test.each(['sync', 'backfill --from 2026-09-01 --to 2026-09-30', 'publish'])(
    '%s fails before anything is spent, and names the process',
    async line => {
      const before = spent()
      expectOneLine(await place.command(line), {
        code: 75,
        line: new RegExp(
          `^muster: another process has the warehouse file open \\(process ${holder}\\) \\(.*w\\.duckdb\\): wait`,
        ),
      })
      expect(spent()).toBe(before)
    },
  )

  test.each(Object.entries(reading))('%s reads the published copy, and says so', async (line, words) => {
    const { code, out, err } = await place.command(line)
    expect(code).toBe(0)
    expect(err).toMatch(/^another process has .*: reading the published copy .*w\.published\.duckdb\n$/)
    expect(out).toContain(words)
  })
})

describe('a file that is no warehouse', () => {
  const spoiled: readonly (readonly [string, (name: string) => void, RegExp])[] = [
    [
      'a text',
      name => writeFileSync(join(place.cwd, name), 'no database '.repeat(1000)),
      /not a DuckDB file/,
    ],
    ['an empty file', name => writeFileSync(join(place.cwd, name), ''), /not a DuckDB file/],
    ['a file that breaks off', name => truncateSync(copied(name), 3_000_000), /it is damaged/],
    [
      'a file with foreign bytes in its middle',
      name => {
        const bytes = readFileSync(place.file)
        writeFileSync(join(place.cwd, name), bytes.fill(7, 65_536 * 20, bytes.length - 65_536))
      },
      /it is damaged/,
    ],
    ['a folder', name => void mkdirSync(join(place.cwd, name)), /this is a folder, not a warehouse file/],
  ]

  test.each(spoiled)('%s', async (what, make, line) => {
    const name = `${what.replaceAll(' ', '-')}.duckdb`
    make(name)
    const before = spent()
    for (const command of ['sync --quiet', 'publish', ...Object.keys(reading)])
      expectOneLine(await place.command(command, { MUSTER_WAREHOUSE: `duckdb:${name}` }), { code: 1, line })
    expect(spent()).toBe(before)
  })
})

describe.skipIf(skipped !== '')(`files that are not for this user${skipped}`, () => {
  const asOrdinaryUser = (words: string, env: Readonly<Record<string, string>>) =>
    musterOfUser(words, {
      cwd: place.cwd,
      env: { MUSTER_BASE_URL: 'http://127.0.0.1:9/api', MUSTER_API_KEY: 'key-0123456789', ...env },
    })

  test('a file that may not be read', () => {
    chmodSync(copied('closed.duckdb'), 0)
    for (const words of ['sync', 'status'])
      expectOneLine(asOrdinaryUser(words, { MUSTER_WAREHOUSE: 'duckdb:closed.duckdb' }), {
        code: 1,
        line: /^muster: the warehouse file cannot be opened \(.*closed\.duckdb\): check the permissions of the file/,
      })
  })

  test('a folder in which nothing may be written', () => {
    const folder = join(place.cwd, 'closed')
    mkdirSync(folder)
    copied('closed/w.duckdb')
    chmodSync(folder, 0o500)
    expectOneLine(asOrdinaryUser('sync', { MUSTER_WAREHOUSE: 'duckdb:closed/new.duckdb' }), {
      code: 1,
      line: /^muster: the warehouse file cannot be opened \(.*new\.duckdb\): check the permissions of the file/,
    })
    for (const words of ['sync --quiet', 'publish'])
      expectOneLine(asOrdinaryUser(words, { MUSTER_WAREHOUSE: 'duckdb:closed/w.duckdb' }), {
        code: 1,
        line: /^muster: temporary files cannot be written \(.*closed\): check the permissions of the folder/,
      })
    chmodSync(folder, 0o700)
  })
})

describe('a service that is not what the settings say', () => {
  const server = createServer(selfSigned(), (_, response) => response.end('{}'))
  let secure = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    secure = `https://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  })
  afterAll(() => void server.close())

  const rng = seededRng(2)

  /** On a clock that goes when it is waited for: a service that does not answer is asked again. */
  const sync = (env: Record<string, string>) => {
    const settings = { MUSTER_BASE_URL: place.sandbox.url, MUSTER_API_KEY: sandboxKeys.company, ...env }
    return muster('sync --quiet', {
      cwd: place.cwd,
      rng,
      env: { MUSTER_WAREHOUSE: 'duckdb:other.duckdb', ...settings },
    })
  }

  test('an untrusted certificate', async () => {
    expectOneLine(await sync({ MUSTER_BASE_URL: secure }), { code: 78, line: /^muster: .*certificate/ })
  })

  test('an address without a listener', async () => {
    expectOneLine(await sync({ MUSTER_BASE_URL: 'http://127.0.0.1:9/api' }), {
      code: 1,
      line: /^muster: .*127\.0\.0\.1:9/,
    })
  })

  test('an address of another service', async () => {
    const elsewhere = `${place.sandbox.url}/elsewhere`
    expectOneLine(await sync({ MUSTER_BASE_URL: elsewhere }), { code: 1, line: /^muster: .*baseUrl/ })
  })

  test('a key that is refused, which is never shown', async () => {
    const key = 'sandbox-wrong-key-0123456789'
    const outcome = await sync({ MUSTER_API_KEY: key })
    expectOneLine(outcome, { code: 78, line: /^muster: the service refuses the API key/ })
    expect(outcome.err).not.toContain(key)
  })

  test('a setting that does not exist', async () => {
    writeFileSync(
      join(place.cwd, 'wrong.yaml'),
      'connections:\n  a:\n    baseURL: https://api.example.com/api\n',
    )
    const before = spent()
    expectOneLine(await place.command('sync --config wrong.yaml'), { code: 78, line: /baseURL.*baseUrl/ })
    expect(spent()).toBe(before)
  })
})
