/** The published copy: what is in it, what is not, and how it is put in place. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

let place: Place
let out: string

async function reading<Result>(file: string, work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const engine = await openDuckdb(file, { readOnly: true })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

/** Every name with its comment, and every row count, of the schemas that are published whole. */
async function contents(engine: Engine) {
  const of = `where database_name = current_database() and schema_name in ('star', 'mart') and not internal`
  const columns = await engine.rows(
    `select schema_name || '.' || table_name || '.' || column_name as name, data_type, is_nullable, comment
     from duckdb_columns() ${of} order by name`,
  )
  const tables = await engine.rows<{ name: string; comment: string }>(
    `select schema_name || '.' || table_name as name, comment from duckdb_tables() ${of}
     union all select schema_name || '.' || view_name, comment from duckdb_views() ${of} order by name`,
  )
  const counts = []
  for (const { name } of tables)
    counts.push(await engine.rows(`select '${name}' as name, count(*) as n from ${name}`))
  return { columns, tables, counts }
}

beforeAll(async () => {
  place = await openPlace()
  expect(await place.command('publish')).toMatchObject({
    code: 1,
    err: `muster: there is no warehouse file (${place.file}): run muster sync first\n`,
  })
  expect(existsSync(place.file)).toBe(false)
  const [company] = place.sandbox.world.all('companies') as {
    config: { enhancedUplifts: { weekly: object } }
  }[]
  Object.assign(company!.config.enhancedUplifts.weekly, { blockThresholds: { 1: 45, 2: 52.5 } })
  expect((await place.command('sync --quiet')).err).toBe('')
  out = (await place.command('publish')).out
})

describe('muster publish', () => {
  test('copies star and mart with views, comments and constraints', async () => {
    const source = await reading(place.file, contents)
    expect(await reading(place.published, contents)).toEqual(source)
    expect(source.tables.map(({ name }) => name)).toContain('star.fact_timesheet_rate')
    expect(source.tables.filter(({ comment }) => comment === null)).toEqual([])
  })

  test('leaves personal data and payloads behind', async () => {
    const others = await reading(place.published, engine =>
      engine.rows(`select table_schema || '.' || table_name as name from information_schema.tables
        where table_catalog = current_database() and table_schema not in ('star', 'mart') order by name`),
    )
    expect(others.map(row => (row as { name: string }).name)).toEqual([
      'ops.accepted_drift',
      'ops.accrual_month_end',
      'ops.alert',
      'ops.change_signal',
      'ops.check_result',
      'ops.company_currency',
      'ops.crosscheck',
      'ops.discovered',
      'ops.metric_calibration',
      'ops.metric_definition',
      'ops.refused_delivery',
      'ops.reporting_zone',
      'ops.run',
      'ops.scan',
      'ops.schema_drift',
      'ops.watermark',
    ])
  })

  test('says what it wrote, and records the run in both files', async () => {
    // Its tables are counted; --verbose lists them.
    expect(out).toMatch(/^published \d+ tables, 8 views, [\d,]+ rows, [\d.]+ MB: .*w\.published\.duckdb\n$/)
    const runs = (engine: Engine) => engine.rows(`select command, state from ops.run order by run_id`)
    const expected = ['publish', 'sync'].map(command => ({ command, state: 'done' }))
    for (const file of [place.file, place.published])
      expect(
        (await reading(file, runs)).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      ).toEqual(expected)
  })

  test('the copy is for everybody to read, and nothing else is left beside it', async () => {
    expect(statSync(place.published).mode & 0o777).toBe(0o644)
    expect(readdirSync(place.cwd).filter(name => name.includes('published'))).toEqual(['w.published.duckdb'])
  })

  test('readers keep the copy that they hold', async () => {
    await reading(place.published, async engine => {
      const before = statSync(place.published).ino
      const { code, out } = await place.command('publish --json')
      expect([code, JSON.parse(out).file]).toEqual([0, place.published])
      expect(statSync(place.published).ino).not.toBe(before)
      expect(await engine.rows('select count(*) as n from star.dim_company')).toEqual([{ n: 2 }])
    })
  })

  test('what cannot be put in place is one line, and the run is recorded as failed', async () => {
    rmSync(place.published)
    mkdirSync(join(place.published, 'in the way'), { recursive: true })
    const { code, err } = await place.command('publish')
    expect([code, err.split('\n').length]).toEqual([1, 2])
    expect(err).toMatch(
      /^muster: the published copy cannot be written: .* \(.*w\.published\.duckdb\): check its folder/,
    )
    expect(readdirSync(place.cwd).filter(name => name.startsWith('.muster-'))).toEqual([])
    const { out } = await place.command('runs --json --limit 1')
    expect(JSON.parse(out)).toMatchObject([{ command: 'publish', state: 'failed' }])
  })
})

describe('views of star', () => {
  const rows = async (sql: string) => JSON.parse((await place.command(`sql --json ${sql}`)).out)

  test('a timesheet has a row for each rate and each value bucket that it carries, and no total', async () => {
    const counts = await rows(`select
      (select count(*) from star.fact_timesheet) * 8 as most_rates,
      (select count(*) from star.fact_timesheet_rate) as rates,
      (select count(distinct timesheet_rate_key) from star.fact_timesheet_rate) as rate_keys,
      (select count(*) from star.fact_timesheet_rate where rate_key not in (select rate_key from star.dim_hour_type)) as strange_rates,
      (select count(distinct timesheet_value_key) - count(*) from star.fact_timesheet_value) as doubled,
      (select count(*) from star.fact_timesheet_value where value_bucket not in (select value_bucket from star.dim_hour_type)) as strange_values,
      (select sum(charge_total) from star.fact_timesheet) - (select sum(charge_value) from star.fact_timesheet_value) as unexplained`)
    expect(counts).toEqual([
      {
        most_rates: counts[0].most_rates,
        rates: counts[0].most_rates,
        rate_keys: counts[0].most_rates,
        strange_rates: 0,
        doubled: 0,
        strange_values: 0,
        unexplained: '0.0000',
      },
    ])
    expect(counts[0].rates).toBeGreaterThan(0)
  })

  test('weeks are those that records name', async () => {
    const [week] = await rows('from star.dim_week order by week_ending_date desc limit 1')
    expect(week).toEqual({
      week_ending_date: '2026-11-01',
      week_start_date: '2026-10-26',
      weekday_name: 'Sunday',
      iso_week_key: '2026-W44',
      month_key: '2026-11',
    })
    expect(
      await rows(`select count(*) as n from star.dim_week as w join star.dim_date as d on d.date_day = w.week_ending_date
        where (d.iso_week_key, d.month_key, d.day_name) is distinct from (w.iso_week_key, w.month_key, w.weekday_name)`),
    ).toEqual([{ n: 0 }])
  })

  test('block thresholds are read from the configuration', async () => {
    expect(
      await rows(
        'select uplift_block, threshold, is_deleted from star.dim_company_block_threshold order by 1',
      ),
    ).toEqual([
      { uplift_block: '1', threshold: '45.00000000', is_deleted: false },
      { uplift_block: '2', threshold: '52.50000000', is_deleted: false },
    ])
  })
})
