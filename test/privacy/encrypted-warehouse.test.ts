/** A DuckDB file that DuckDB encrypts: read with its key, written where that is safe, and never in clear while a key is set. */
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { isEncrypted, lacking } from '../../src/warehouse/duckdb/encrypted-file.ts'
import { muster, temporaryFolder } from '../cli/captured-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'

const lacks = await lacking()
const service = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })

/** The same 32 bytes in both forms that settings take. */
const bytes = randomBytes(32)
const [hex, base64] = [bytes.toString('hex'), bytes.toString('base64')]
const timesheets = 'select count(*) as n from star.fact_timesheet'
const resources = 'users companies sites timesheets assignments'

function place(key?: string) {
  const cwd = temporaryFolder()
  const env = {
    MUSTER_BASE_URL: service.url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: 'duckdb:data/w.duckdb',
    ...(key !== undefined && { MUSTER_WAREHOUSE_KEY: key }),
  }
  const command = (line: string, more: Readonly<Record<string, string>> = {}) =>
    muster(line, { env: { ...env, ...more }, cwd, clock: systemClock })
  const good = async (line: string, more: Readonly<Record<string, string>> = {}) => {
    const ended = await command(line, more)
    expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
    return ended.out
  }
  return { cwd, file: join(cwd, 'data/w.duckdb'), command, good }
}

let synced: Promise<string> | undefined
/** A file in clear, synced once for all tests that only read it. */
function plainFile(): Promise<string> {
  const { good, file } = place()
  synced ??= good(`sync ${resources} --quiet`).then(() => file)
  return synced
}

/** One line, with exit code 78. */
async function refused(run: ReturnType<ReturnType<typeof place>['command']>, words: RegExp): Promise<void> {
  const { code, err } = await run
  expect([code, err]).toEqual([78, expect.stringMatching(words)])
  expect(
    err
      .trim()
      .split('\n')
      .filter(line => line.startsWith('muster: ')),
  ).toHaveLength(1)
  expect(err).not.toMatch(/unexpected|^ +at /m)
  for (const secret of [hex, base64]) expect(err).not.toContain(secret)
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** Encrypted as DuckDB does it for debugging: what reads the file cannot tell. */
async function encryptedCopy(from: string, to: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })
  const connection = await instance.connect()
  await connection.run('set force_mbedtls_unsafe = true')
  await connection.run(`attach '${from}' as plain (read_only)`)
  await connection.run(`attach '${to}' as enc (encryption_key '${base64}')`)
  await connection.run('copy from database plain to enc')
  await connection.run('checkpoint enc')
  connection.closeSync()
  instance.closeSync()
}

test
  .skipIf(!lacks)
  .each([
    `sync ${resources}`,
    'replay',
    'serve --port 0',
    'copy --from duckdb:other.duckdb --to duckdb:data/w.duckdb --to-key-file key',
  ])('without the extension, %s is refused before anything is asked or written', async line => {
  const { cwd, command } = place(hex)
  writeFileSync(join(cwd, 'key'), hex, { mode: 0o600 })
  await refused(
    command(line.replace('other.duckdb', await plainFile())),
    /httpfs.*\.duckdb\/extensions\/v1\.\d+\.\d+\/\w+.*nothing was written/,
  )
  expect(filesIn(cwd)).toEqual([join(cwd, 'key')])
})

test('an encrypted file is read with its key in either form, and in one line refused without it', async () => {
  const plain = await plainFile()
  const { cwd, file, command, good } = place()
  writeFileSync(join(cwd, 'key'), `${hex}\n`, { mode: 0o600 })
  mkdirSync(join(cwd, 'data'))
  await encryptedCopy(plain, file)
  const size = readFileSync(file)
  expect([isEncrypted(plain), isEncrypted(file)]).toEqual([false, true])
  for (const env of [
    { MUSTER_WAREHOUSE_KEY: hex },
    { MUSTER_WAREHOUSE_KEY: base64 },
    { MUSTER_WAREHOUSE_KEY_FILE: 'key' },
  ]) {
    expect(await good('status', env as Record<string, string>)).toMatch(
      /warehouse file: encrypted with warehouseKey/,
    )
    expect(await good('runs', env as Record<string, string>)).toContain('sync')
    expect(await good(`sql --csv ${timesheets}`, env as Record<string, string>)).toMatch(/^n\n[1-9]\d+\n$/)
  }
  for (const line of [
    'status',
    'runs',
    `sql ${timesheets}`,
    'build',
    `sync ${resources}`,
    'replay',
    'docs --out d.html',
  ]) {
    await refused(command(line), /encrypted, and there is no warehouseKey/)
    await refused(
      command(line, { MUSTER_WAREHOUSE_KEY: randomBytes(32).toString('hex') }),
      lacks && /^(build|sync|replay)/.test(line) ? /httpfs/ : /encrypted with another key/,
    )
  }
  // Nobody has written it, and nothing was left beside it.
  expect(readFileSync(file).equals(size)).toBe(true)
  expect(filesIn(join(cwd, 'data'))).toEqual([file])
})

test('a file in clear is not taken for an encrypted one', async () => {
  const { file, command, good } = place()
  await good('sync sites --quiet')
  const before = readFileSync(file)
  await refused(
    command('runs', { MUSTER_WAREHOUSE_KEY: hex }),
    /is set, and the file is not encrypted.*muster copy --to-key-file/,
  )
  expect(readFileSync(file).equals(before)).toBe(true)
})

test.each([
  ['abc', {}, /is no key of 32 bytes/],
  [`${hex} ${hex}`, {}, /several keys/],
  [hex, { MUSTER_WAREHOUSE: 'postgres://someone@localhost:1/none' }, /for DuckDB only/],
  [hex, { MUSTER_WAREHOUSE_KEY_FILE: 'key' }, /both set/],
])('the setting %s is refused in one line', async (key, more, words) => {
  const { cwd, command } = place()
  writeFileSync(join(cwd, 'key'), hex, { mode: 0o600 })
  for (const line of ['status', 'sync sites', 'sql select'])
    await refused(command(line, { MUSTER_WAREHOUSE_KEY: key, ...more }), words)
  expect(filesIn(cwd)).toEqual([join(cwd, 'key')])
})

test('a copy that was encrypted with another key stops forget, which is whole once the copy is gone', async () => {
  const { cwd, file, command, good } = place()
  mkdirSync(join(cwd, 'data'))
  copyFileSync(await plainFile(), file)
  const copy = join(cwd, 'copy.duckdb')
  await good(`copy --from duckdb:${file} --to duckdb:${copy} --quiet`)
  const clear = join(cwd, 'clear.duckdb')
  renameSync(copy, clear)
  await encryptedCopy(clear, copy)
  const sql = 'select worker_id as id, name from pii.worker order by 1 limit 1'
  const [person] = JSON.parse(await good(`sql --json ${sql}`)) as [{ id: string; name: string }]
  const forget = `forget worker ${person.id} --yes --quiet`
  await refused(command(forget), new RegExp(`still holds the person.*${copy}.*: remove it`))
  const state = () => good('sql --json select state from ops.forgotten').then(out => JSON.parse(out))
  expect(await state()).toEqual([{ state: 'begun' }])
  // What it could reach is without the person all the same.
  expect(await good(`sql --json ${sql}`)).not.toContain(person.name)
  rmSync(copy)
  await good(forget)
  expect(await state()).toEqual([{ state: 'done' }])
})

test('doctor tells whether the file is encrypted, and what is missing', async () => {
  const { command } = place(hex)
  const { code, out } = await command('doctor')
  if (lacks)
    expect([code, out]).toEqual([78, expect.stringMatching(/encryption +warehouseKey is set, but DuckDB/)])
  else expect(out).toMatch(/warehouse: by DuckDB, with warehouseKey/)
})

/** Where httpfs is installed: the whole life of a warehouse, of which no file is in clear. */
test.skipIf(lacks)('a warehouse lives encrypted from its first sync on', async () => {
  const { cwd, file, good, command } = place(hex)
  writeFileSync(join(cwd, 'key'), hex, { mode: 0o600 })
  const landing = { MUSTER_LANDING_KEY: randomBytes(32).toString('hex') }
  await good(`sync ${resources} --quiet`, landing)
  const rows = await good(`sql --csv ${timesheets}`)
  await good('build --quiet')
  await good('publish --quiet')
  const copy = file.replace('.duckdb', '.published.duckdb')
  expect([isEncrypted(file), isEncrypted(copy)]).toEqual([true, true])
  await good('replay --quiet', landing)
  await good(`sync ${resources} --quiet`, landing)
  await good('publish --quiet')
  await good(
    `copy --from duckdb:${file} --to duckdb:${join(cwd, 'other.duckdb')} --from-key-file key --quiet`,
  )
  await good(
    `copy --from duckdb:${join(cwd, 'other.duckdb')} --to duckdb:${join(cwd, 'back.duckdb')} --to-key-file key --quiet`,
  )
  expect([isEncrypted(join(cwd, 'other.duckdb')), isEncrypted(join(cwd, 'back.duckdb'))]).toEqual([
    false,
    true,
  ])
  expect(isEncrypted(file)).toBe(true)
  expect(await good(`sql --csv ${timesheets}`)).toBe(rows)
  await good('check landed_pages_readable --quiet', landing)
  await good('status --json')
  await refused(command('status', { MUSTER_WAREHOUSE_KEY: randomBytes(32).toString('hex') }), /another key/)
  const inClear = filesIn(join(cwd, 'data')).filter(one => /duckdb/.test(one) && !isEncrypted(one))
  expect(inClear).toEqual([])
})
