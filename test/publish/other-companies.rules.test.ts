/** How a copy for one company is searched for the ids of others. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requireNoOthers } from '../../src/publish/company-rows.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const columns = Array.from({ length: 80 }, (_, index) => `text_${index}`)

let engine: Engine

beforeAll(async () => {
  // A join for each of these columns would take 200 MB.
  engine = await openDuckdb(join(temporaryFolder(), 'rows.duckdb'), { memoryLimit: '60MB' })
  await engine.run('create schema if not exists star')
  await engine.run(
    `create table star.fact_wide (${columns.map(name => `${name} varchar`).join(', ')}, n integer)`,
  )
  await engine.run(
    `insert into star.fact_wide select ${columns.map(name => `'${name} ' || n`).join(', ')}, n from range(500) as t(n)`,
  )
})

afterAll(() => engine.close())

test('finds no other company in a wide table, in little memory', async () => {
  await expect(requireNoOthers(engine, ['other', 'another'])).resolves.toBeUndefined()
})

test.each(['text_0', 'text_79'])('refuses the id of another company in %s, and says where', async column => {
  await engine.run(`update star.fact_wide set ${column} = 'another' where n = 499`)
  await expect(requireNoOthers(engine, ['other', 'another'])).rejects.toThrow(
    `the copy would contain the id of another company, in star.fact_wide.${column}`,
  )
  await engine.run(`update star.fact_wide set ${column} = null where n = 499`)
})

test('an empty value is no id', async () => {
  await engine.run(`update star.fact_wide set text_1 = '', text_2 = null`)
  await expect(requireNoOthers(engine, ['other'])).resolves.toBeUndefined()
})
