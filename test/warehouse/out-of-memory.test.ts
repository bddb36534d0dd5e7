/** Memory that runs out is told apart from a value that does not fit, for which a record is to blame. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MusterError, OutOfMemory } from '../../src/lib/errors.ts'
import { mayBeDueToRows } from '../../src/warehouse/blame.ts'
import { statementError } from '../../src/warehouse/duckdb/failure.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const failureOf = (engine: Engine, sql: string): Promise<unknown> =>
  engine.rows(sql).then(
    () => undefined,
    error => error,
  )

test('of a DuckDB with little memory, in one line, with the file; its connection works afterwards', async () => {
  const file = join(temporaryFolder(), 'w.duckdb')
  const engine = await openDuckdb(file, { memoryLimit: '40MB' })
  try {
    const full = await failureOf(
      engine,
      `select max(t) from (select string_agg(repeat('x', 1000), '') as t
      from range(500000))`,
    )
    expect(full).toBeInstanceOf(OutOfMemory)
    expect([mayBeDueToRows(full), String((full as Error).message)]).toEqual([
      false,
      expect.stringContaining('do not fit into the memory'),
    ])
    const cast = await failureOf(engine, `select cast(t as integer) from (values ('12'), ('twelve')) v(t)`)
    expect([cast instanceof OutOfMemory, mayBeDueToRows(cast)]).toEqual([false, true])
    expect(await engine.rows('select 1 as one')).toEqual([{ one: 1 }])
  } finally {
    await engine.close()
  }
})

test('rows of a delete that ran out of memory can be deleted once memory was freed, and none is lost', async () => {
  const engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'), { memoryLimit: '25MB' })
  const remove = (condition: string): Promise<number> =>
    engine.transaction(inside => inside.run(`delete from t where ${condition}`))
  try {
    await engine.run('create table t as select range as i from range(4000000)')
    await engine.makeLasting()
    // DuckDB keeps 16 KB of each 2,048 rows of which it deletes some.
    await expect(remove('i % 1999 = 0')).rejects.toBeInstanceOf(OutOfMemory)
    await expect(remove('true')).rejects.toBeInstanceOf(OutOfMemory)
    await engine.freeMemory(0)
    expect(await engine.rows('select count(*) as n from t')).toEqual([{ n: 4_000_000 }])
    expect(await remove('true')).toBe(4_000_000)
    expect(await engine.rows('select count(*) as n from t')).toEqual([{ n: 0 }])
  } finally {
    await engine.close()
  }
})

const secondDelete = async (memoryLimit: string): Promise<unknown> => {
  const engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'), { memoryLimit })
  const removeWith = (batch: Engine, condition: string): Promise<number> =>
    batch.merge(inside => inside.run(`delete from t where ${condition}`))
  try {
    await engine.run('create table t as select range as i from range(4000000)')
    await engine.makeLasting()
    const failed = engine.staging(batch => removeWith(batch, 'i % 1999 = 0'))
    await expect(failed, memoryLimit).rejects.toBeInstanceOf(OutOfMemory)
    return await engine.staging(batch => removeWith(batch, 'true')).catch(error => error)
  } finally {
    await engine.close()
  }
}

test('so can those of a delete that ran out of memory by the next batch that is loaded, or it says what to do', async () => {
  const results: unknown[] = []
  for (const limit of ['25MB', '28MB', '32MB']) results.push(await secondDelete(limit))
  // With 28 MB DuckDB gives the whole database up as it rolls the delete back.
  const failures = results.filter(result => result !== 4_000_000)
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(MusterError)
    expect(String(failure)).toContain('run the command again; what was committed is kept')
  }
  expect(failures.length).toBeLessThan(results.length)
})

test('a DuckDB that gives up altogether says in one line what to do', () => {
  const cause = new Error(
    'FATAL Error: Failed: database has been invalidated because of a previous fatal error.',
  )
  const told = statementError('w.duckdb', cause)
  expect(told).toBeInstanceOf(MusterError)
  expect((told as MusterError).message).toContain('run the command again; what was committed is kept')
})
