/** The seeds run on DuckDB, can be run again, and hold what the contract and the calendar say. */
import { readdirSync, readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const folder = new URL('../../sql/seed/', import.meta.url)
const seeds = readdirSync(folder).filter(name => name.startsWith('dim_'))
const text = (name: string) => readFileSync(new URL(name, folder), 'utf8')

let instance: DuckDBInstance
let db: DuckDBConnection

/** Rows as text, so that expectations read like the table. */
async function rows(sql: string): Promise<string[][]> {
  const reader = await db.runAndReadAll(sql)
  return reader.getRows().map(row => row.map(String))
}

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  db = await instance.connect()
  await db.run('create schema star')
  await db.run(text('schema.sql'))
  // Declared with the resources; here only what the seeds fill.
  await db.run('create table star.dim_role (role_id text, label text, is_base_role boolean)')
  await db.run(
    'create table star.dim_recruitment_stage (recruitment_stage_id text, label text, ordinal integer)',
  )
  for (const seed of seeds) await db.run(text(seed))
})

afterAll(() => {
  db.closeSync()
  instance.closeSync()
})

const counts = {
  'dim_date.sql': 5844,
  'dim_engagement_type.sql': 6,
  'dim_entity_status.sql': 41,
  'dim_expense_category.sql': 15,
  'dim_hour_type.sql': 10,
  'dim_minimum_wage.sql': 27,
  'dim_recruitment_stage.sql': 9,
  'dim_role.sql': 9,
}

test('every seed file is known, and says its grain first', () => {
  expect(seeds).toEqual(Object.keys(counts))
  for (const seed of seeds) expect(text(seed)).toMatch(/^-- One row per /)
})

describe.each(Object.entries(counts))('%s', (seed, count) => {
  const table = `star.${seed.replace('.sql', '')}`

  test(`has ${count} rows, and running it again adds none`, async () => {
    expect(await rows(`select count(*) from ${table}`)).toEqual([[String(count)]])
    await db.run(text(seed))
    expect(await rows(`select count(*) from ${table}`)).toEqual([[String(count)]])
  })

  test('leaves no cell empty', async () => {
    const [described] = await rows(`select string_agg(column_name, ',') from (describe ${table})`)
    const columns = (described?.[0] ?? '').split(',').filter(column => column !== 'uplift_key')
    const filled = columns.map(column => `count(${column}) = count(*)`).join(' and ')
    expect(await rows(`select ${filled} from ${table}`)).toEqual([['true']])
  })
})

test('every column of the seed tables is described', async () => {
  const undescribed = `
    select table_name || '.' || column_name from duckdb_columns()
    where schema_name = 'star' and comment is null
      and table_name not in ('dim_role', 'dim_recruitment_stage')`
  expect(await rows(undescribed)).toEqual([])
})

describe('dim_date', () => {
  test('has every day once', async () => {
    const sql = 'select count(distinct date_day), min(date_day), max(date_day) from star.dim_date'
    expect(await rows(sql)).toEqual([['5844', '2015-01-01', '2030-12-31']])
  })

  test.each([
    ['2021-01-03', ['20210103', '2020', '2020-W53', '2020-12-28', '2021-01-03', 'Sunday', 'true']],
    ['2024-12-30', ['20241230', '2025', '2025-W01', '2024-12-30', '2025-01-05', 'Monday', 'false']],
    ['2024-02-29', ['20240229', '2024', '2024-W09', '2024-02-26', '2024-03-03', 'Thursday', 'false']],
  ])('knows the ISO week of %s', async (day, expected) => {
    const columns =
      'date_key, iso_year, iso_week_key, week_start_monday, week_end_sunday, day_name, is_weekend'
    expect(await rows(`select ${columns} from star.dim_date where date_day = date '${day}'`)).toEqual([
      expected,
    ])
  })

  test.each([
    ['2025-04-05', ['2024/25', '2025-03-06']],
    ['2025-04-06', ['2025/26', '2025-04-06']],
    ['2025-01-03', ['2024/25', '2024-12-06']],
    ['2025-03-31', ['2024/25', '2025-03-06']],
    ['2015-01-01', ['2014/15', '2014-12-06']],
  ])('knows the tax year and month of %s', async (day, expected) => {
    const sql = `select uk_tax_year, uk_tax_month_start from star.dim_date where date_day = date '${day}'`
    expect(await rows(sql)).toEqual([expected])
  })

  test('agrees with the calendar functions of the engine', async () => {
    const wrong = `
      select date_day from star.dim_date
      where month_key <> strftime(date_day, '%Y-%m')
        or iso_week_key <> strftime(date_day, '%G-W%V')
        or day_name <> dayname(date_day)
        or month_start_date <> date_trunc('month', date_day)
        or quarter <> quarter(date_day)
        or is_weekend <> (dayofweek(date_day) in (0, 6))`
    expect(await rows(wrong)).toEqual([])
  })
})

describe('bank holidays', () => {
  const holidays = async (year: number) => {
    const sql = `select date_day from star.dim_date where is_bank_holiday_eng and year = ${year} order by 1`
    return (await rows(sql)).map(([day]) => day?.slice(5))
  }

  test.each([
    [2020, ['01-01', '04-10', '04-13', '05-08', '05-25', '08-31', '12-25', '12-28']],
    [2021, ['01-01', '04-02', '04-05', '05-03', '05-31', '08-30', '12-27', '12-28']],
    [2022, ['01-03', '04-15', '04-18', '05-02', '06-02', '06-03', '08-29', '09-19', '12-26', '12-27']],
    [2023, ['01-02', '04-07', '04-10', '05-01', '05-08', '05-29', '08-28', '12-25', '12-26']],
    [2025, ['01-01', '04-18', '04-21', '05-05', '05-26', '08-25', '12-25', '12-26']],
    [2026, ['01-01', '04-03', '04-06', '05-04', '05-25', '08-31', '12-25', '12-28']],
    [2027, ['01-01', '03-26', '03-29', '05-03', '05-31', '08-30', '12-27', '12-28']],
  ])('of %i are those of gov.uk', async (year, expected) => {
    expect(await holidays(year)).toEqual(expected)
  })

  test('never fall on a weekend, and are eight in a year without a royal occasion', async () => {
    const sql = `
      select year, count(*) filter (where is_bank_holiday_eng),
        count(*) filter (where is_bank_holiday_eng and is_weekend)
      from star.dim_date group by year order by year`
    for (const [year, count, weekend] of await rows(sql)) {
      const expected = year === '2022' ? '10' : year === '2023' ? '9' : '8'
      expect([year, count, weekend]).toEqual([year, expected, '0'])
    }
  })
})

test('hour types can be joined without multiplying rows', async () => {
  const documented = `where mapping_confidence = 'documented'`
  expect(
    await rows(`select count(distinct value_bucket), (select count(distinct rate_key) from star.dim_hour_type),
      (select count(distinct rate_key) = count(*) from star.dim_hour_type ${documented}) from star.dim_hour_type`),
  ).toEqual([['10', '8', 'true']])
})
