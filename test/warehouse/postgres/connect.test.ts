/** A refused connection is explained in one line, without a password. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DiskFull } from '../../../src/lib/errors.ts'
import { migrate } from '../../../src/state/migrate.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import type { SilenceLimits } from '../../../src/warehouse/postgres/silence.ts'
import { addressOf, type Database, database, onServer } from '../../support/postgres-database.ts'

const scratch = mkdtempSync(join(tmpdir(), 'muster-connect-'))
const open = (url: string): Promise<Engine> => openPostgres({ url, shown: 'postgres://shown' }, { scratch })

let made: Database
beforeAll(async () => {
  made = await database()
})
afterAll(async () => {
  await made.drop()
  rmSync(scratch, { recursive: true, force: true })
})

const changed = (change: Partial<URL>): string => Object.assign(new URL(made.url), change).href

describe('one line for', () => {
  test.each<[string, () => string, RegExp]>([
    ['a port that nobody listens on', () => changed({ port: '1' }), /connection was refused/],
    ['no such database', () => addressOf('nowhere'), /no such database/],
    ['an unknown host', () => changed({ hostname: 'nowhere.invalid' }), /host is not known|not answer/],
    ['a server without TLS', () => `${made.url}?sslmode=require`, /has no TLS/],
    [
      'a file of certificates that is not there',
      () => `${made.url}?sslmode=verify-full&sslrootcert=/nowhere.pem`,
      /certificate file/,
    ],
  ])('%s', async (_, url, expected) => {
    const error = (await open(url()).catch((reason: unknown) => reason)) as Error
    expect(error.message).toMatch(expected)
    expect(error.message).toMatch(/postgres:\/\/shown/)
    expect(error.message).not.toMatch(/\n|wrong-password/)
  })
})

// Of a server that somebody else set up it is not known whether it asks for passwords at all.
test.skipIf(process.env.MUSTER_TEST_POSTGRES)('one line for a wrong password', async () => {
  const wrong = open(changed({ password: 'wrong-password' }))
  await expect(wrong).rejects.toThrow(/^the password was refused[^\n]*$/)
  await expect(wrong).rejects.not.toThrow(/wrong-password/)
})

test.skipIf(process.env.MUSTER_TEST_POSTGRES)('one line for a user who has no connection left', async () => {
  const role = `few_${process.pid}`
  await onServer(`create role ${role} login connection limit 0 password 'few'`)
  try {
    await expect(open(changed({ username: role, password: 'few' }))).rejects.toThrow(
      /^the server has no connection left[^\n]*close some, or run again later$/,
    )
  } finally {
    await onServer(`drop role ${role}`)
  }
})

test.each<[string, RegExp, boolean]>([
  ['53100', /^the disk of the server is full .*free some space/, true],
  ['53200', /^the server has no memory left/, false],
  ['53400', /^a statement reached a limit of the server: says so .*raise the limit/, false],
  ['57014', /^the server stopped a statement that took too long/, false],
  [
    '57P01',
    /^the connection to the server was lost: its administrator ended it.*run again once it runs/,
    false,
  ],
  ['57P02', /^the connection to the server was lost: another server process crashed/, false],
  ['08006', /^the connection to the server was lost/, false],
])('one line for a statement that ends with %s', async (code, expected, isFull) => {
  const engine = await open(made.url)
  const raised = engine.run(`do $$ begin raise exception 'says so' using errcode = '${code}'; end $$`)
  const error = await raised.catch((reason: unknown) => reason)
  expect((error as Error).message).toMatch(expected)
  // Of a full disk the whole run is told.
  expect(error instanceof DiskFull).toBe(isFull)
  await engine.close()
})

test('a value that looks like a reason is not taken for one', async () => {
  const engine = await open(made.url)
  const cast = engine.rows(`select cast('53100 No space left, ECONNRESET 08006' as integer)`)
  await expect(cast).rejects.toMatchObject({ code: '22P02' })
  await engine.close()
})

/** Asks on a second connection all the time while a statement runs. */
const patience: SilenceLimits = { connectMs: 1000, lookMs: 1, quietLooks: 1, answerMs: 1000, questions: 1000 }

/** Ends every session of this database but one; gives how many. */
async function endSessions(but = 0): Promise<number> {
  const database = new URL(made.url).pathname.slice(1)
  const ended = await onServer(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and pid <> ${but}`,
  )
  return ended.length
}

describe('a session', () => {
  test('that was ended between two transactions is reopened with its settings', async () => {
    const engine = await open(made.url)
    const [mine] = await engine.rows<{ pid: number }>('select pg_backend_pid() as pid')
    await onServer(`select pg_terminate_backend(${mine?.pid})`)
    await expect.poll(() => engine.rows('select 1 as one').catch(() => [])).toEqual([{ one: 1 }])
    expect(await engine.rows(`select current_setting('timezone') as zone`)).toEqual([{ zone: 'UTC' }])
    await engine.close()
  })

  test.each<[string, (engine: Engine) => Promise<unknown>]>([
    ['while nothing runs', async () => undefined],
    ['while a statement runs', engine => engine.run('select pg_sleep(60)')],
    ['inside a transaction', engine => engine.transaction(engine => engine.run('select pg_sleep(60)'))],
    ['while it is closed', engine => engine.close()],
  ])('that the administrator ends %s never ends the process', async (_, work) => {
    const uncaught = vi.fn()
    process.prependListener('uncaughtException', uncaught)
    const engine = await openPostgres({ url: made.url, shown: 'postgres://shown', patience }, { scratch })
    const working = work(engine).catch((error: unknown) => error)
    await endSessions()
    await working
    await endSessions()
    await engine.close()
    process.removeListener('uncaughtException', uncaught)
    expect(uncaught).not.toHaveBeenCalled()
  })

  test('whose second connection the administrator ends goes on', async () => {
    const uncaught = vi.fn()
    process.prependListener('uncaughtException', uncaught)
    const engine = await openPostgres({ url: made.url, shown: 'postgres://shown', patience }, { scratch })
    const [mine] = await engine.rows<{ pid: number }>('select pg_backend_pid() as pid')
    const working = engine.rows('select 1 as one from pg_sleep(3)')
    let ended = 0
    for (let round = 0; round < 50; round += 1) ended += await endSessions(mine?.pid)
    expect(ended).toBeGreaterThan(0)
    expect(await working).toEqual([{ one: 1 }])
    await engine.close()
    process.removeListener('uncaughtException', uncaught)
    expect(uncaught).not.toHaveBeenCalled()
  })

  test('that was ended inside a transaction fails and rolls back that transaction', async () => {
    const engine = await open(made.url)
    await engine.run('create table public.kept (n integer)')
    const torn = engine.transaction(async engine => {
      await engine.run('insert into public.kept values (1)')
      const [mine] = await engine.rows<{ pid: number }>('select pg_backend_pid() as pid')
      await onServer(`select pg_terminate_backend(${mine?.pid})`)
      await engine.run('insert into public.kept values (2)')
    })
    await expect(torn).rejects.toThrow(/connection to the server was lost.*run again/)
    expect(await engine.rows('select n from public.kept')).toEqual([])
    await engine.close()
  })

  test('never commits after a statement failed, even when the failure was caught', async () => {
    const engine = await open(made.url)
    await engine.run('create table public.whole (n integer)')
    const halved = engine.transaction(async engine => {
      await engine.run('insert into public.whole values (1)')
      await engine.run('insert into public.nowhere values (1)').catch(() => undefined)
    })
    await expect(halved).rejects.toThrow(/nowhere/)
    expect(await engine.rows('select n from public.whole')).toEqual([])
    await engine.close()
  })
})

test('a warehouse that a later program made is left alone', async () => {
  const engine = await open(made.url)
  const now = '2026-11-03T02:00:00.000Z'
  await migrate(engine, now, { version: '9.1.0' })
  expect(await migrate(engine, now, { version: '0.1.0' })).toBe(false)
  await engine.run(`update ops.migration set checksum = 'another' where name = 'structure'`)
  await expect(migrate(engine, now, { version: '9.0.9' })).rejects.toThrow(
    /made by muster 9\.1\.0.*nothing was changed/,
  )
  expect(await migrate(engine, now, { version: '9.1.0' })).toBe(true)
  await engine.close()
})
