/** Statements of the portable subset become Spark SQL; marts that the lake cannot give are named with the reason. */
import { describe, expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { fillTokens } from '../../src/marts/inputs.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { sparkSql } from '../../src/marts/spark/dialect.ts'
import { sparkMarts } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'
import { ledgerOfMarts } from '../../src/state/tables.ts'
import { stateHistory } from '../../src/warehouse/schema/physical.ts'

test.each([
  [
    'computes a materialized table expression once',
    'with a as materialized (select 1)',
    'with a as (select * from (select 1) as once where rand() >= 0)',
  ],
  ['drops not materialized', 'a as not materialized (select 1)', 'a as (select 1)'],
  ['quotes names with backticks', 'select "of x"."y"', 'select `of x`.`y`'],
  ['escapes quotes and backslashes of texts', `select 'it''s' || '\\d'`, `select 'it\\'s' || '\\\\d'`],
  ['counts weekdays from Monday', 'extract(isodow from d + 1) = 7', '(weekday(d + 1) + 1) = 7'],
  ['reads the seconds of a timestamp', 'extract(epoch from t)', '(unix_micros(t) / 1e6)'],
  [
    'subtracts timestamps as microseconds',
    'extract(epoch from (f(a) - b))',
    '((unix_micros(f(a)) - unix_micros(b)) / 1e6)',
  ],
  [
    'reads the clocks of a zone',
    `a.at at time zone z.zone + z.minutes, a.at at time zone 'UTC'`,
    `from_utc_timestamp(a.at, z.zone) + z.minutes, from_utc_timestamp(a.at, 'UTC')`,
  ],
  ['names types as Spark does', 'cast(a as text)', 'cast(a as string)'],
  ['keeps digits of decimals', 'cast(a as numeric(18, 4))', 'cast(a as decimal(18, 4))'],
  ['names double precision', 'cast(a as double precision)', 'cast(a as double)'],
  [
    'generates series by explode',
    'from generate_series(1, 9) as s (n)',
    'from (select explode(sequence(1, 9))) as s (n)',
  ],
  [
    'counts the days of a window over dates as integers',
    `order by d range between interval '118 days' preceding and current row`,
    'order by d nulls last range between 118 preceding and current row',
  ],
  ['reads a field of JSON', `cast(a.b as json) ->> 'c'`, `get_json_object(a.b, '$.c')`],
  ['matches patterns', `a ~ '^b$'`, `a rlike '^b$'`],
  ['names tables of the lake', 'from star.fact_timesheet as t', 'from star_fact_timesheet as t'],
  [
    'puts empty values last',
    'over (order by a, b desc, c desc nulls last)',
    'over (order by a nulls last, b desc, c desc nulls last)',
  ],
  [
    'leaves a column alone that is named like a rule',
    'select t.status as text_of',
    'select t.status as text_of',
  ],
])('the Spark dialect %s', (_, sql, expected) => {
  expect(sparkSql(sql)).toBe(expected)
})

const portable = 'select :days(:today, coalesce(a, f(b))), :number(a, b) from t where :slice(c)'

test('days and numbers are plain SQL on DuckDB and PostgreSQL', () => {
  const time = { asOf: null, today: '2026-11-02', ...defaultDays }
  expect(fillTokens(portable, time)).toBe(
    `select (cast('2026-11-02' as date) - coalesce(a, f(b))), row_number() over () from t where true`,
  )
})

describe('the marts for Spark', () => {
  const made = sparkMarts(readMarts())
  const statements = made.marts.map(({ mart, select }) => [mart.name, select(name => `:${name}`)] as const)

  test('have no token, quoted name or cast that Spark does not know', () => {
    for (const [name, sql] of statements) {
      const plain = sql.replace(/--.*/g, '').replace(/'(?:[^'\\]|\\.)*'/g, "''")
      expect([name, plain.match(/:(?!as_of|today|zone|first_day|last_day|fiscal_month)\w+/g)]).toEqual([
        name,
        null,
      ])
      expect([name, plain.match(/"|\bmaterialized\b|\bas text\b|\bnumeric\b|isodow|epoch/g)]).toEqual([
        name,
        null,
      ])
    }
  })

  test('number rows in the order of their key', () => {
    const [, sql = ''] = statements.find(([name]) => name === 'workforce_flow') ?? []
    expect(sql).toContain('row_number() over (order by worker_id nulls last')
    for (const [name, text] of statements) expect([name, text.includes('over ()')]).toEqual([name, false])
  })

  test('leave out what reads more than the lake has, with the reason', () => {
    const whys = new Map(made.leftOut.map(({ name, why }) => [name, why]))
    expect(whys.get('request_budget')).toBe('reads ops.api_usage, not in the lake')
    expect([...whys.keys()]).toEqual(['alert', 'data_health', 'request_budget'])
    const read = new Set(made.marts.flatMap(({ reads }) => reads))
    expect([...read].filter(name => !/^(?:star|mart)\./.test(name)).sort()).toEqual(
      [...stateHistory.keys(), ...ledgerOfMarts].sort(),
    )
  })

  test('come after those they read, in the plan of the runner and as models of dbt', () => {
    const files = sparkFiles(made, [{ name: 'acme', days: defaultDays, fiscalMonth: 4 }])
    const contentOf = (path: string): string => String(files.find(one => one.path === path)?.content)
    const plan = JSON.parse(contentOf('marts.json')) as { marts: Record<string, { reads: string[] }> }
    const names = Object.keys(plan.marts).map(name => `mart.${name}`)
    for (const [name, { reads }] of Object.entries(plan.marts))
      for (const read of reads)
        if (names.includes(read)) expect(names.indexOf(read)).toBeLessThan(names.indexOf(`mart.${name}`))
    expect(plan.marts.rate_card_coverage).toMatchObject({
      needs: ['rate_compliance', 'rate_card_coverage'],
      isRead: false,
    })
    expect(plan.marts.rate_compliance).toMatchObject({ needs: ['rate_compliance'], isRead: true })
    const model = contentOf('dbt/models/spend_concentration.sql')
    expect(model).toContain(
      `mart_rate_compliance as (select * from {{ ref("rate_compliance") }} where connection =`,
    )
    expect(model).toContain('{{ source("star", "fact_timesheet") }}')
    expect(contentOf('dbt/connections/acme.yml')).toContain('zone: Europe/London')
  })

  test('as models of dbt, begin on a line below their comment', () => {
    const models = sparkFiles(made, []).filter(
      ({ path }) => path.startsWith('dbt/models/') && path.endsWith('.sql'),
    )
    // Jinja removes the space, line breaks too, before {%- and behind -%}.
    const shown = (text: string): string =>
      text
        .replace(/\s*\{%-/g, '{%')
        .replace(/-%\}\s*/g, '%}')
        .replace(/\{%.*?%\}/g, '')
    const beginnings = models.map(({ content }) => shown(String(content)).split('\n').slice(0, 2))
    expect(models.length).toBe(made.marts.length)
    expect(
      beginnings.filter(
        ([comment, begin]) => /\bwith\b/.test(comment ?? '') || !/^(with|select) /.test(begin ?? ''),
      ),
    ).toEqual([])
  })
})
