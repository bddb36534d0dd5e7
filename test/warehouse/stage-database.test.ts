/** Stages beside a file: how much memory they take, and what they leave behind. */
import { mkdtempSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'muster-stage-')), 'warehouse.duckdb')

/** What is in the scratch folder beside the file, with paths. */
function temporary(file: string): string[] {
  const [scratch] = readdirSync(dirname(file)).filter(name => name.startsWith('.muster-'))
  if (scratch === undefined) return []
  const folder = join(dirname(file), scratch)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
}

test('a stage with more rows than a vector takes no more memory than its rows need, and no disk space', async () => {
  const file = newFile()
  const engine = await openDuckdb(file)
  const columns = Array.from({ length: 110 }, (_, index) => `i * ${index} as c${index}`).join(', ')
  await engine.staging(async engine => {
    await engine.run(`create table stage.wide as select ${columns} from range(4200) r(i)`)
    const [held] = await engine.rows<{ bytes: number }>(
      `select memory_usage_bytes as bytes from duckdb_memory() where tag = 'IN_MEMORY_TABLE'`,
    )
    expect(Number(held?.bytes)).toBeGreaterThan(4200 * 110 * 8)
    expect(Number(held?.bytes)).toBeLessThan(3 * 4200 * 110 * 8)
    expect(temporary(file)).toHaveLength(1)
  })
  await engine.close()
  expect(temporary(file)).toEqual([])
})

test('while batches are loaded the log goes into the file as soon as it is long', async () => {
  const file = newFile()
  const engine = await openDuckdb(file)
  await engine.run('create schema star')
  await engine.run('create table star.long (text varchar)')
  const logs: number[] = []
  await engine.staging(async engine => {
    for (let batch = 0; batch < 6; batch += 1) {
      await engine.transaction(engine =>
        engine.run(`insert into star.long select repeat(md5(i::varchar), 60) || i from range(4000) r(i)`),
      )
      logs.push(statSync(`${file}.wal`, { throwIfNoEntry: false })?.size ?? 0)
    }
  })
  expect(Math.max(...logs)).toBeGreaterThan(12_000_000)
  expect(Math.max(...logs)).toBeLessThan(30_000_000)
  expect(await engine.rows('select count(*)::integer as n from star.long')).toEqual([{ n: 24_000 }])
  await engine.close()
})

test('when no stage can be created, one line names the folder', async () => {
  const file = newFile()
  const engine = await openDuckdb(file)
  const [folder = ''] = temporary(file)
  rmdirSync(folder)
  writeFileSync(folder, '')
  await expect(engine.staging(engine => engine.run('select 1'))).rejects.toThrow(folder)
  await engine.close()
})
