/** The warehouse file is detached and attached again between batches, whoever takes it in between. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { FileInUse } from '../../src/warehouse/duckdb/failure.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { batchesBetween, reattach } from '../../src/warehouse/duckdb/reattach.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { interruptAll } from '../../src/warehouse/turns.ts'

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'muster-anew-')), 'anew.duckdb')

async function opened(file: string): Promise<Engine> {
  const engine = await openDuckdb(file)
  onTestFinished(() => engine.close())
  return engine
}

/** Grows with every database that is attached. */
async function attachmentOf(engine: Engine): Promise<number> {
  const [row] = await engine.rows<{ oid: bigint }>(
    `select database_oid as oid from duckdb_databases() where database_name = 'warehouse'`,
  )
  return Number(row?.oid)
}

const batch = (engine: Engine, n: number): Promise<void> =>
  engine.staging(async connection => {
    await connection.run(`create or replace table stage.batch as select ${n} as n`)
    await connection.merge(async inside => {
      await inside.run('insert into t select n from stage.batch')
    })
  })

test('batches that overlap, and statements beside them, go on over several attachments', async () => {
  const engine = await opened(newFile())
  await engine.run('create table t (n integer)')
  const before = await attachmentOf(engine)
  const total = 3 * batchesBetween + 1
  const counted: Promise<unknown>[] = []
  await Promise.all(
    Array.from({ length: total }, (_, n) => {
      counted.push(engine.rows('select count(*) from t where n < $1', [n]))
      return batch(engine, n)
    }),
  )
  await Promise.all(counted)
  expect(await attachmentOf(engine)).toBeGreaterThan(before)
  expect(await engine.rows('select cast(count(distinct n) as integer) as n from t')).toEqual([{ n: total }])
})

test('few batches leave the file attached', async () => {
  const engine = await opened(newFile())
  await engine.run('create table t (n integer)')
  const before = await attachmentOf(engine)
  for (let n = 0; n < batchesBetween; n += 1) await batch(engine, n)
  expect(await attachmentOf(engine)).toBe(before)
})

async function takenBy(file: string, how: 'to write' | 'to read' = 'to write'): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('holding-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, file, how], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }), 'line')
  return child
}

/** An attachment of a file of its own, whose engine gives it up and takes it again. */
async function attachmentTo(file: string) {
  let engine = await openDuckdb(file)
  await engine.run('create table if not exists t (n integer)')
  await engine.run('insert into t values (1)')
  const attachment = {
    file,
    detach: () => engine.close(),
    attach: async () => {
      engine = await openDuckdb(file)
    },
    isSame: () => true,
  }
  onTestFinished(() => engine.close().catch(() => undefined))
  return { attachment, rows: () => engine.rows('select n from t order by n') }
}

test('a process that takes the file in between is waited for, and what it wrote is there', async () => {
  const file = newFile()
  const { attachment, rows } = await attachmentTo(file)
  let child: ChildProcess | undefined
  const detach = async (): Promise<void> => {
    await attachment.detach()
    child = await takenBy(file)
  }
  const attach = async (): Promise<void> => {
    await attachment.attach().catch(error => {
      // Held until it was met.
      child?.stdin?.end()
      throw error
    })
  }
  await reattach({ ...attachment, detach, attach })
  expect(await rows()).toEqual([{ n: 1 }, { n: 2 }])
})

test('a stop while another process has the file ends the wait with 75', async () => {
  const file = newFile()
  const { attachment } = await attachmentTo(file)
  let child: ChildProcess | undefined
  const detach = async (): Promise<void> => {
    await attachment.detach()
    child = await takenBy(file)
  }
  let tries = 0
  const attach = async (): Promise<void> => {
    tries += 1
    if (tries === 2) interruptAll()
    await attachment.attach()
  }
  const ended = reattach({ ...attachment, detach, attach })
  await expect(ended).rejects.toThrow(FileInUse)
  await expect(ended).rejects.toMatchObject({ exitCode: 75 })
  child?.stdin?.end()
  await once(child as ChildProcess, 'exit')
})

test('a file that was put in its place is not written, and the next batch ends with 75', async () => {
  const file = newFile()
  const engine = await openDuckdb(file)
  await engine.run('create table t (n integer)')
  await engine.makeLasting()
  copyFileSync(file, `${file}.new`)
  renameSync(`${file}.new`, file)
  for (let n = 0; n < 2; n += 1) await expect(batch(engine, n)).rejects.toMatchObject({ exitCode: 75 })
  await expect(engine.makeLasting()).rejects.toMatchObject({ exitCode: 75 })
  await engine.close()
  const after = await opened(file)
  expect(await after.rows('select n from t')).toEqual([])
})

test('a file that another process keeps fails every statement with 75, and closing', async () => {
  const file = newFile()
  const engine = await openDuckdb(file)
  await engine.run('create table t (n integer)')
  await engine.makeLasting()
  // To close any descriptor of a file gives up all locks that the process has on it.
  readFileSync(file)
  const child = await takenBy(file, 'to read')
  const stopping = setInterval(interruptAll, 100)
  onTestFinished(() => clearInterval(stopping))
  const ended = Array.from({ length: batchesBetween + 2 }, (_, n) => batch(engine, n))
  const results = await Promise.allSettled(ended)
  clearInterval(stopping)
  expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { exitCode: 75 } })
  await expect(engine.rows('select 1')).rejects.toMatchObject({ exitCode: 75 })
  await expect(engine.makeLasting()).resolves.toBeUndefined()
  await engine.close()
  child.stdin?.end()
  await once(child, 'exit')
  const after = await opened(file)
  const committed = results.filter(({ status }) => status === 'fulfilled').length
  expect(await after.rows('select cast(count(*) as integer) as n from t')).toEqual([{ n: committed }])
})
