/** Memory that runs out is told apart from a value that does not fit, for which a record is to blame. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OutOfMemory } from '../../src/lib/errors.ts'
import { mayBeDueToRows } from '../../src/warehouse/blame.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { temporaryFolder } from '../cli/captured-world.ts'

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
