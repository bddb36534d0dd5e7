/** No value becomes another one in silence: each mutated record is stored as it came, or in quarantine, or reported. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import { namedRng } from '../../src/lib/rng.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import type { PageFile } from '../../src/load/read/pages.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { judgeMutated } from './coercions.ts'
import { mergeOnly } from './merge-only.ts'
import { type Mutated, mutator } from './mutated-records.ts'

const seed = Number(process.env.MUSTER_TEST_SEED ?? 1)
/** Of all resources together; in the quick suite none on a server, which takes what DuckDB has judged. */
const mutants = { duckdb: thorough ? 100_000 : 800, postgres: thorough ? 100_000 : 0 }
const atOnce = 1000

/** In the quick suite those with the most kinds of values. */
const usual = thorough ? [] : ['assignments', 'timesheets', 'metric-rows', 'companies']
const names = process.env.MUSTER_TEST_RESOURCES?.split(',') ?? usual
const chosen = names.length === 0 ? catalogue : catalogue.filter(({ name }) => names.includes(name))

/** Records that are read by id stand in lists here, which is quicker and asks for the same. */
const placeOf = (resource: Resource) => (resource.read.strategy === 'byId' ? 'data' : rowsAt(resource))

const body = (resource: Resource, records: readonly string[]): string => {
  const rows = placeOf(resource)
  if (rows === 'data as one record') return `{"data":${records[0]}}`
  return rows === 'data' ? `{"data":[${records.join(',')}]}` : `{"data":{"entries":[${records.join(',')}]}}`
}

function pagesOf(
  resource: Resource,
  records: readonly Mutated[],
  { folder, run }: { folder: string; run: string },
) {
  const size = placeOf(resource) === 'data as one record' ? 1 : 100
  return Array.from({ length: Math.ceil(records.length / size) }, (_, index): PageFile => {
    const some = records.slice(index * size, (index + 1) * size)
    const text = body(
      resource,
      some.map(record => record.text),
    )
    const file = join(folder, `${run}-${index}.json`)
    writeFileSync(file, text)
    const scope = { company_id: 'c1', api_key_id: `${run}-${index}` }
    const bytes = Buffer.byteLength(text)
    return { file, bytes, fetchedAt: '2026-11-02T09:00:00.000Z', runId: run, scope, wasReadAgain: true }
  })
}

async function judged({ engine, landing }: Warehouse, resource: Resource, most: number) {
  const rng = namedRng(seed, `mutants of ${resource.name}`)
  const mutate = mutator(resource, rng)
  const limits = { ...defaultLimits, paths: 1_000_000 }
  const pipeline = new Pipeline({ engine, plan: stagePlan(resource), limits })
  const folder = `${landing}.mutants`
  const sum = { stored: 0, refused: 0, wrong: [] as string[] }
  for (let done = 0; done < most; done += atOnce) {
    mkdirSync(folder, { recursive: true })
    const run = `${resource.name}-${done}`
    const records = Array.from({ length: Math.min(atOnce, most - done) }, (_, index) => mutate(done + index))
    const batch = { pages: pagesOf(resource, records, { folder, run }), rows: placeOf(resource) }
    await pipeline.load(batch, mergeOnly)
    await pipeline.drained()
    const { stored, refused, wrong } = await judgeMutated(engine, resource, { run, records })
    sum.stored += stored
    sum.refused += refused
    sum.wrong.push(...wrong)
    rmSync(folder, { recursive: true, force: true })
  }
  return sum
}

describeOnEngines('values of another form', bench => {
  test('are stored as they came, refused or reported, wherever they stand', async () => {
    const warehouse = await bench.warehouse()
    const each = Math.ceil(mutants[bench.name] / (thorough ? catalogue : chosen).length)
    const all = { stored: 0, refused: 0, wrong: [] as string[] }
    for (const resource of chosen) {
      const { wrong, stored, refused } = await judged(warehouse, resource, each)
      all.wrong.push(...wrong)
      if (thorough)
        console.info(
          `${bench.name} ${resource.name}: ${stored} stored, ${refused} refused, ${wrong.length} wrong`,
        )
      all.stored += stored
      all.refused += refused
    }
    expect(all.wrong.slice(0, 40)).toEqual([])
    console.info(
      `${bench.name}, seed ${seed}: ${all.stored} stored, ${all.refused} refused, 0 coerced in silence`,
    )
    expect(all.stored).toBeGreaterThan(all.refused / 4)
    expect(all.refused).toBeGreaterThan(all.stored / 4)
  })
})
