/** Why a DuckDB file is upgraded in a copy, and what happens where there is no room for one. */
import { copyFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { muster, temporaryFolder } from '../cli/captured-world.ts'
import { earlierWarehouse } from '../fixtures/earlier-warehouse.ts'

test('DuckDB cannot read a log in which one transaction updates a table and then renames it', async () => {
  const folder = temporaryFolder()
  const [file, left] = [join(folder, 'w.duckdb'), join(folder, 'left.duckdb')]
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const made = ['create table a (n integer)', 'insert into a values (1)', 'checkpoint']
  const changed = ['begin', 'update a set n = 2', 'alter table a rename to b', 'commit']
  for (const sql of [...made, ...changed]) await connection.run(sql)
  // As a kill leaves them.
  for (const ending of ['', '.wal']) copyFileSync(`${file}${ending}`, `${left}${ending}`)
  connection.closeSync()
  instance.closeSync()
  await expect(DuckDBInstance.create(left)).rejects.toThrow(/WAL/)
})

test('without room for the copy an upgrade ends with one line, and the file is as it was', async () => {
  const cwd = temporaryFolder()
  const address = await earlierWarehouse(1, 'duckdb', cwd)
  const file = address.replace('duckdb:', '')
  const before = readFileSync(file)
  const env = {
    MUSTER_BASE_URL: 'http://127.0.0.1:9/api',
    MUSTER_API_KEY: 'nobody-asks',
    MUSTER_WAREHOUSE: address,
    MUSTER_RESERVE_MEGABYTES: '1000000000',
  }
  const { code, err } = await muster('upgrade', { env, cwd, clock: systemClock })
  expect(code).not.toBe(0)
  expect(err).toMatch(/^muster: [^\n]*free[^\n]*\n$/)
  expect(err).toContain(dirname(file))
  expect(readFileSync(file).equals(before)).toBe(true)
})
