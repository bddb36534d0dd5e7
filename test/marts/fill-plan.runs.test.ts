/** How a server fills a mart: what is the same for every row is computed once, and no index repeats another one. */
import { beforeAll, expect, test } from 'vitest'
import { byIdColumns } from '../../src/marts/columns.ts'
import { readReportingTime } from '../../src/marts/inputs.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { fillStatement, tableOf } from '../../src/marts/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../support/built-marts.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'

const filled = useFilled()
let engine: Engine

interface Plan {
  readonly 'Relation Name'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}

beforeAll(async () => {
  engine = (await filled.postgres()).engine
  await buildAll(engine)
}, 300_000)

const within = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(within)]

class Undone extends Error {}

/** The plan of a fill that is then undone, with how often each part of it ran. */
async function planOf(name: string): Promise<Plan[]> {
  const mart = readMarts().find(one => one.name === name)
  if (!mart) throw new Error(`no mart ${name}`)
  const moment = { ...(await readReportingTime(engine, Date.parse(filledAt))), now: filledAt }
  let plans: Plan[] = []
  const undone = engine.transaction(async engine => {
    await engine.run(`delete from ${tableOf(name)}`)
    await engine.planForFullScans()
    const fill = engine.forFullScan(fillStatement(mart, tableOf(name), moment))
    const [row] = await engine.rows<{ 'QUERY PLAN': string | { Plan: Plan }[] }>(
      `explain (analyze, format json) ${fill}`,
    )
    const told = row?.['QUERY PLAN'] ?? '[]'
    const [{ Plan: plan } = { Plan: undefined }] = (typeof told === 'string' ? JSON.parse(told) : told) as {
      Plan: Plan
    }[]
    if (plan) plans = within(plan)
    throw new Undone()
  })
  await expect(undone).rejects.toThrow(Undone)
  return plans
}

test.each(
  readMarts()
    .filter(mart => byIdColumns(mart).length > 0)
    .map(({ name }) => name),
)('%s: how much is known of records by id is counted once', async name => {
  const counts = (await planOf(name)).filter(plan => plan['Relation Name'] === 'discovered')
  expect(Math.max(...counts.map(plan => plan['Actual Loops']))).toBe(1)
})

test('no index of a mart repeats the beginning of another one', async () => {
  const indexes = await engine.rows<{ table: string; columns: string }>(
    `select c.relname as table, i.indkey::text as columns from pg_catalog.pg_index i
     join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1`,
    [engine.schema('mart')],
  )
  const repeated = indexes.filter(one =>
    indexes.some(
      other =>
        other !== one && other.table === one.table && `${other.columns} `.startsWith(`${one.columns} `),
    ),
  )
  expect(indexes.length).toBeGreaterThan(50)
  expect(repeated).toEqual([])
})
