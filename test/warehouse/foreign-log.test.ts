/** A log beside a file that it is not of, as after a crash and a backup that was put back: it would mix two warehouses. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { temporaryFolder } from '../support/captured-world.ts'

/** Keeps the log that a kill would leave as `kept`. */
async function written(file: string, rows: readonly number[], kept?: string): Promise<void> {
  const engine = await openDuckdb(file)
  await engine.run('create table if not exists t (a integer)')
  await engine.run('checkpoint')
  for (const row of rows) await engine.run(`insert into t values (${row})`)
  if (kept !== undefined) copyFileSync(`${file}.wal`, kept)
  await engine.close()
}

async function rowsOf(file: string, readOnly: boolean): Promise<unknown[]> {
  const engine = await openDuckdb(file, { readOnly })
  try {
    return (await engine.rows<{ a: number }>('select a from t order by a')).map(({ a }) => a)
  } finally {
    await engine.close()
  }
}

/** As releases before wrote files: their logs say nothing about whose they are. */
async function ofEarlierRelease(file: string): Promise<void> {
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  await connection.run('create table t (a integer)')
  connection.closeSync()
  instance.closeSync()
}

test.each(['a new file', 'a file of an earlier release'])(
  'the log of another file is refused: %s',
  async kind => {
    const folder = temporaryFolder()
    const [one, other, log] = ['one.duckdb', 'other.duckdb', 'log'].map(name => join(folder, name)) as [
      string,
      string,
      string,
    ]
    if (kind !== 'a new file') for (const file of [one, other]) await ofEarlierRelease(file)
    await written(one, [1, 2], log)
    await written(other, [3])
    copyFileSync(log, `${other}.wal`)
    for (const readOnly of [true, false])
      await expect(rowsOf(other, readOnly)).rejects.toThrow(
        /^the log beside the warehouse file belongs to another file, or to a newer state of this one \(.*other\.duckdb\.wal\): /,
      )
  },
)

test('refuses an older copy beside the log of a newer state, and leaves the newer state complete', async () => {
  const folder = temporaryFolder()
  const [file, backup, log] = ['w.duckdb', 'backup.duckdb', 'log'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await written(file, [1])
  copyFileSync(file, backup)
  await written(file, [2])
  const newer = join(folder, 'newer.duckdb')
  copyFileSync(file, newer)
  await written(file, [3], log)
  copyFileSync(backup, file)
  copyFileSync(log, `${file}.wal`)
  await expect(rowsOf(file, false)).rejects.toThrow(/to a newer state of this one/)
  copyFileSync(newer, file)
  copyFileSync(log, `${file}.wal`)
  // Opened, its checkpoint is one further than the log.
  expect(await rowsOf(file, true)).toEqual([1, 2, 3])
})
