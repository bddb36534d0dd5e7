/** The page Today: green only where nothing differs and nothing is missing, and the word of mart.data_health. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dataHealth } from '../../src/dashboard/pages/data-health.ts'
import { detailOf } from '../../src/dashboard/web/panel/verdict-text.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const verdicts = dataHealth.panels[0]?.sql ?? ''
let engine: Engine

beforeEach(async () => {
  engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'))
  await engine.run(`create schema if not exists mart`)
  await engine.run(`create table mart.crosscheck (metric text, verdict text, checked_at timestamptz)`)
  await engine.run(`create table mart.freshness (resource text, is_fresh boolean, last_read_at timestamptz)`)
  await engine.run(
    `create table mart.request_budget (observed_at timestamptz, remaining_today bigint, rate_limit_per_day bigint, api_key_id text)`,
  )
  await engine.run(`create table mart.data_health (resource text, completeness text, incomplete_reason text, expected_rows bigint,
    live_rows bigint, failed_checks bigint, failed_error_checks bigint, quarantined_records bigint, refused_records bigint,
    withheld_deletions bigint, deletion_candidates bigint, loaded_at timestamptz, last_read_at timestamptz)`)
})

afterEach(() => engine.close())

const health = (
  resource: string,
  completeness: string,
  [expected, live, refused]: readonly (number | null)[] = [1, 1, 0],
) =>
  engine.run(
    `insert into mart.data_health values ('${resource}', '${completeness}', null, ${expected}, ${live}, 0, 0, 0, ${refused}, 0, 0, now(), now())`,
  )

const figures = (verdict: string, count: number) =>
  engine.run(
    `insert into mart.crosscheck select 'timeToFill', '${verdict}', now() from generate_series(1, ${count})`,
  )

async function verdictOf(topic: string) {
  const rows = await engine.rows<Record<string, string | number | null>>(verdicts)
  const row = rows.find(one => one.topic === topic)
  const shown = { ...row, wrong: Number(row?.wrong), of_all: Number(row?.of_all), happened_at: null }
  return [row?.state, detailOf(shown as never), row?.command]
}

describe('agrees with the service', () => {
  test('is amber where figures differ because ids are unknown, and says how many and what to run', async () => {
    await health('requisitions', 'no total to compare with', [119, 77, 1])
    await figures('equal', 2276)
    await figures('uncovered', 703)
    expect(await verdictOf('Agrees with the service')).toEqual([
      'warning',
      '2,276 agree, 703 differ because 41 requisition ids are unknown',
      'muster discover requisitions FILE',
    ])
  })

  test.each([
    ['equal', 'good', 'All 9'],
    ['explained', 'warning', '0 agree, 9 differ for known reasons'],
    ['unexplained', 'bad', '9 of 9 unexplained: timeToFill'],
  ])('where every figure is %s it is %s', async (verdict, state, detail) => {
    await health('requisitions', 'no total to compare with', [5, 4, 0])
    await figures(verdict, 9)
    expect((await verdictOf('Agrees with the service')).slice(0, 2)).toEqual([state, detail])
  })

  test('an unexplained figure is worse than an unknown id', async () => {
    await figures('uncovered', 3)
    await figures('unexplained', 1)
    expect((await verdictOf('Agrees with the service')).slice(0, 2)).toEqual([
      'bad',
      '1 of 4 unexplained: timeToFill',
    ])
  })

  test('without a known number of ids it names the reason alone', async () => {
    await figures('uncovered', 3)
    expect((await verdictOf('Agrees with the service'))[1]).toBe(
      '0 agree, 3 differ because requisition ids are unknown',
    )
  })
})

describe('proved complete', () => {
  test('counts the resources that can be proved, as muster status does', async () => {
    await health('users', 'complete')
    await health('rates', 'no total to compare with')
    await health('sites', 'not for this key')
    expect((await verdictOf('Proved complete')).slice(0, 2)).toEqual(['good', 'All 1'])
    await health('invoices', 'not read yet')
    expect((await verdictOf('Proved complete')).slice(0, 2)).toEqual([
      'warning',
      '1 of 2: invoices not read yet',
    ])
    await health('expenses', 'incomplete')
    expect((await verdictOf('Proved complete')).slice(0, 2)).toEqual([
      'bad',
      '2 of 3: expenses incomplete, invoices not read yet',
    ])
  })
})
