/** A server whose packets are lost in silence: what runs on it ends, with one line; what merely takes long does not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { defaultPatience, type SilenceLimits } from '../../../src/warehouse/postgres/silence.ts'
import { type Database, database, onServer } from '../../support/postgres-database.ts'
import { CuttingProxy } from './cutting-proxy.ts'

const patience: SilenceLimits = { connectMs: 1000, lookMs: 50, quietLooks: 3, answerMs: 300, questions: 3 }
const gone =
  /^the server has stopped answering: its machine or the network is down \(postgres:\/\/shown\): [^\n]*what was committed is kept$/

let made: Database
let proxy: CuttingProxy
let engine: Engine
let scratch: string

beforeEach(async () => {
  made = await database()
  proxy = await CuttingProxy.before(made.url)
  scratch = mkdtempSync(join(tmpdir(), 'muster-vanished-'))
  engine = await openPostgres({ url: proxy.url, shown: 'postgres://shown', patience }, { scratch })
  await engine.run('create schema star')
  await engine.run('create table star.t (a bigint, b text)')
})
afterEach(async () => {
  await engine.close()
  await proxy.close()
  await made.drop()
  rmSync(scratch, { recursive: true, force: true })
})

const rows = {
  table: 'star.t',
  columns: ['a', 'b'],
  select: `select i, repeat('x', 1000) from range(20000) r(i)`,
}

const work: Readonly<Record<string, () => Promise<unknown>>> = {
  'a statement': () => engine.run('select 1 as vanishes'),
  'a statement that takes long': () => engine.run('select pg_sleep(20) as vanishes'),
  'rows on their way there': () => engine.transaction(async engine => engine.receive(engine.send([rows]))),
  'rows on their way back': () =>
    engine.sendToStage(
      'back',
      [{ name: 'a', sql: 'bigint' }],
      'select i as vanishes from generate_series(1, 300000) as s(i)',
    ),
  'a commit': () => engine.transaction(engine => engine.run('insert into star.t values (1)')),
}
const begins: Readonly<Record<string, string>> = {
  'rows on their way there': 'copy star.t',
  'a commit': 'commit',
}

describe.each(['vanish', 'forget'] as const)('when packets are lost (%s)', cut => {
  test.each(Object.keys(work))('%s ends with one line', async name => {
    proxy.cutAfter(name === 'rows on their way there' ? 1_000_000 : 1, cut, begins[name] ?? 'vanishes')
    const started = performance.now()
    await expect(work[name]?.()).rejects.toThrow(gone)
    expect(performance.now() - started).toBeLessThan(6000)
  })
})

test('an answer that is lost on its way ends a statement that the server has finished', async () => {
  const running = engine.run('select pg_sleep(0.5)')
  await expect
    .poll(() =>
      onServer(
        `select 1 from pg_stat_activity where query like '%pg_sleep(0.5)%' and state = 'active' and pid <> pg_backend_pid()`,
      ),
    )
    .toHaveLength(1)
  proxy.forget()
  await expect(running).rejects.toThrow(gone)
})

test('connecting to a server that has vanished ends with one line', async () => {
  proxy.vanish()
  const other = openPostgres({ url: proxy.url, shown: 'postgres://shown', patience }, { scratch })
  await expect(other).rejects.toThrow(
    /^the host does not answer \(postgres:\/\/shown\): [^\n]*firewalls between$/,
  )
}, 30_000)

test('a statement that takes long goes on while the server is there, and while it takes no connection more', async () => {
  const long = patience.lookMs * patience.quietLooks * 20
  expect(await engine.rows(`select pg_sleep(${long / 1000}), 1 as a`)).toMatchObject([{ a: 1 }])
  const database = new URL(made.url).pathname.slice(1)
  await onServer(`alter database ${database} with allow_connections false`)
  expect(await engine.rows(`select pg_sleep(${long / 1000}), 1 as a`)).toMatchObject([{ a: 1 }])
}, 30_000)

test('a transaction that waits for other work and an idle session are kept', async () => {
  const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, patience.lookMs * 30))
  await engine.transaction(async engine => {
    await engine.run('insert into star.t values (1)')
    await pause()
    await engine.run('insert into star.t values (2)')
  })
  await pause()
  expect(await engine.rows('select count(*)::int as n from star.t')).toEqual([{ n: 2 }])
})

test('the default timeouts leave a minute of two to end the run', () => {
  const { lookMs, quietLooks, answerMs, questions } = defaultPatience
  expect(defaultPatience).toEqual({
    connectMs: 15_000,
    lookMs: 5000,
    quietLooks: 3,
    answerMs: 10_000,
    questions: 3,
  })
  expect(lookMs * quietLooks + questions * (answerMs + lookMs)).toBeLessThanOrEqual(60_000)
})
