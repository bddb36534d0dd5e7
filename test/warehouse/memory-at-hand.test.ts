/** Memory that DuckDB has for one statement, on any machine and after any work in the same process. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { companyMart } from '../marts/company-mart.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const waiting = async (engine: Engine): Promise<number> => {
  const [row] = await engine.rows<{ bytes: number }>(
    `select cast(sum(memory_usage_bytes) as double) as bytes from duckdb_memory()
     where tag in ('IN_MEMORY_TABLE', 'TRANSACTION')`,
  )
  return row?.bytes ?? 0
}

const names = Array.from({ length: 30 }, (_, index) => `c${index}`)

async function writeTables(engine: Engine, from: number, count: number): Promise<void> {
  await engine.transaction(async engine => {
    for (let index = from; index < from + count; index += 1) {
      await engine.run(`create table star.t${index} (${names.map(name => `${name} text`).join(', ')})`)
      await engine.run(`insert into star.t${index} values (${names.map(name => `'of ${name}'`).join(', ')})`)
    }
  })
}

test('tables of one row each take memory until it is asked for, and a few of them may keep it', async () => {
  const engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'))
  try {
    await engine.run('create schema star')
    await writeTables(engine, 0, 5)
    const few = await waiting(engine)
    await engine.freeMemory()
    expect(await waiting(engine)).toBe(few)
    await writeTables(engine, 5, 60)
    const many = await waiting(engine)
    await engine.freeMemory()
    const left = await waiting(engine)
    expect([few > 5_000_000, many > 60_000_000, left < 5_000_000]).toEqual([true, true, true])
    await writeTables(engine, 65, 5)
    await engine.freeMemory(0)
    expect(await waiting(engine)).toBeLessThan(5_000_000)
    expect(await engine.rows('select c29 from star.t69')).toEqual([{ c29: 'of c29' }])
  } finally {
    await engine.close()
  }
})

test('a statement has two threads on a machine of any size, before a load and after it', async () => {
  const engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'))
  const threads = (on: Engine): Promise<{ threads: string }[]> =>
    on.rows(`select current_setting('threads')::text as threads`)
  try {
    expect(await threads(engine)).toEqual([{ threads: '2' }])
    await engine.staging(async loading => expect(await threads(loading)).toEqual([{ threads: '1' }]))
    expect(await threads(engine)).toEqual([{ threads: '2' }])
  } finally {
    await engine.close()
  }
})

test('a mart that did not fit in memory is built again when all memory is free, and reported when it still does not fit', async () => {
  const engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'), { memoryLimit: '60MB' })
  const freed: (number | undefined)[] = []
  const freeMemory = (most?: number): Promise<void> => {
    freed.push(most)
    return engine.freeMemory(most)
  }
  const large = companyMart('large', {
    select: `select max(t) from (select string_agg(repeat('x', 1000), '') as t from range(120000))`,
  })
  const small = companyMart('small', {})
  try {
    const { marts } = await buildMarts(
      {
        engine: { ...engine, freeMemory },
        clock: systemClock,
        rng: seededRng(1),
        signal: new AbortController().signal,
        version: 'test',
        gate: openGate,
        onMart: () => undefined,
      },
      { marts: [large, small], names: [], all: false },
    )
    expect(marts).toMatchObject([
      { state: 'failed', message: expect.stringContaining('do not fit into the memory') },
      { state: 'built' },
    ])
    expect(freed).toEqual([undefined, 0, undefined])
  } finally {
    await engine.close()
  }
})
