/** Every page over a socket, on both engines: the same figures, filtered and not, and the rows behind them. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageAnswer, PanelAnswer, RowsAnswer } from '../../src/dashboard/answers.ts'
import { noFilters, readFilters } from '../../src/dashboard/filters.ts'
import { pageNamed, pages } from '../../src/dashboard/pages/pages.ts'
import { type ReportData, writeReport } from '../../src/dashboard/report.ts'
import { utcDay, weekday } from '../../src/lib/dates.ts'
import { isAmount } from '../../src/marts/columns.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { quoteName } from '../../src/warehouse/sql-text.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { onServer } from '../support/postgres-database.ts'
import { type Served, serveDashboard } from './served.ts'

const filled = useFilled()
const role = `figures_${process.pid}`
let duckdb: Served
let postgres: Served
let file: Engine
let reader: Engine

/** A user who may read the marts and nothing else. */
async function asReader(
  engine: Engine,
  { address, landing }: { address: string; landing: string },
): Promise<Engine> {
  const url = new URL(address)
  const database = url.pathname.slice(1)
  const mart = quoteName(engine.schema('mart'))
  await onServer(`create role ${role} login password 'for this test'`)
  await onServer(`grant usage on schema ${mart} to ${role}`, database)
  await onServer(`grant select on all tables in schema ${mart} to ${role}`, database)
  url.username = role
  url.password = 'for this test'
  return openPostgres({ url: url.href, shown: database }, { scratch: `${landing}.reader` })
}

beforeAll(async () => {
  const made = await filled.duckdb()
  file = made.engine
  const server = await filled.postgres()
  // Parts of what agencies bill go by a provider.
  for (const engine of [file, server.engine])
    await engine.run(
      `update star.fact_invoice set invoice_type = case when right(invoice_id, 1) < '5' then 'supplierToMsp' else 'mspToClient' end
       where right(invoice_id, 1) < 'a'`,
    )
  await buildAll(file)
  await buildAll(server.engine)
  reader = await asReader(server.engine, server)
  duckdb = await serveDashboard(file)
  postgres = await serveDashboard(reader)
}, 240_000)

afterAll(async () => {
  await duckdb?.close()
  await postgres?.close()
  if (reader) {
    const [{ name } = { name: '' }] = await reader.rows<{ name: string }>(
      'select current_database()::text as name',
    )
    await reader.close()
    await onServer(`drop owned by ${role}`, name)
    await onServer(`drop role ${role}`)
  }
})

const pageOf = async (served: Served, path: string): Promise<PageAnswer> => {
  const answer = await served.get(`/api/pages/${path}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as PageAnswer
}

const panelOf = ({ panels }: PageAnswer, id: string): PanelAnswer => {
  const panel = panels.find(one => one.id === id)
  if (!panel) throw new Error(`no panel ${id}`)
  return panel
}

/** Both engines compute with doubles; how long ago something was read differs by the moment of asking. */
const comparable = ({ rows }: Pick<PanelAnswer, 'rows'>): unknown =>
  rows.map(row =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !['hours_since_read', 'happened_at'].includes(name))
        .map(([name, value]) => {
          const isNumber =
            value !== null && value !== '' && !Number.isNaN(Number(value)) && typeof value !== 'boolean'
          return [name, isNumber ? Number(value).toFixed(3) : value]
        }),
    ),
  )

describe.each(pages.map(({ id }) => id))('page %s', id => {
  test.each(['', '?from=2026-03-01&to=2026-09-30'])('has the same figures on both engines%s', async query => {
    const ours = await pageOf(duckdb, id + query)
    const theirs = await pageOf(postgres, id + query)
    for (const panel of ours.panels) {
      const other = panelOf(theirs, panel.id)
      expect([panel.id, panel.failure, other.failure]).toEqual([panel.id, null, null])
      expect([panel.id, comparable(other)]).toEqual([panel.id, comparable(panel)])
      expect(other.sql).toBe(panel.sql)
    }
  })

  test('has rows behind its panels, which its statement selects', async () => {
    const page = await pageOf(duckdb, id)
    for (const { id: panel, rows, drillBy, sql } of page.panels) {
      expect([panel, comparable({ rows: await file.rows(sql) })]).toEqual([panel, comparable({ rows })])
      if (!drillBy || rows.length === 0) continue
      const chosen = drillBy.map(column => {
        const value = rows[0]?.[column]
        return value === null ? `null.${column}=` : `row.${column}=${encodeURIComponent(String(value))}`
      })
      const answer = await duckdb.get(`/api/rows/${panel}?${chosen.join('&')}`)
      const behind = (await answer.json()) as RowsAnswer
      expect([panel, answer.status, behind.rows.length > 0]).toEqual([panel, 200, true])
      // Which of equals come first is open.
      expect(await file.rows(behind.sql)).toHaveLength(behind.rows.length)
    }
  })
})

test('a filter narrows what has its column, and the panel says where it does not', async () => {
  const whole = await pageOf(duckdb, 'cost')
  const [first] = panelOf(whole, 'cost-by-agency').rows
  const one = await pageOf(duckdb, `cost?agency=${first?.agency_id}`)
  expect(panelOf(one, 'cost-by-agency').rows).toEqual([first])
  expect(panelOf(one, 'cost-totals').rows[0]?.cost).toBe(first?.cost)
  expect(panelOf(one, 'cost-codes').ignored).toEqual(['agency'])
  expect(panelOf(one, 'cost-by-agency').ignored).toEqual([])
})

test('the parts of a page add up to its total', async () => {
  const page = await pageOf(duckdb, 'cost')
  const [{ cost, week_ending_date: last } = {}] = panelOf(page, 'cost-totals').rows
  const total = Number(cost)
  expect(total).toBeGreaterThan(0)
  const costOf = (rows: PanelAnswer['rows']): number => rows.reduce((sum, row) => sum + Number(row.cost), 0)
  for (const id of ['cost-by-agency', 'cost-by-trade'])
    expect(costOf(panelOf(page, id).rows)).toBeCloseTo(total, 2)
  const weeks = panelOf(page, 'cost-by-week').rows
  expect(costOf(weeks.filter(row => String(row.week_ending_date) <= String(last)))).toBeCloseTo(total, 2)
  expect(weeks.filter(row => row.is_settled_week).at(-1)?.week_ending_date).toBe(last)
  expect(weeks.some(row => Number(row.pending) > 0 && row.is_settled_week === false)).toBe(true)
})

test('what a page is compared with are its own figures of the period before', async () => {
  const sumOf = (rows: PanelAnswer['rows'], column: string): number =>
    rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)
  for (const served of [duckdb, postgres]) {
    const page = await pageOf(served, 'cost?from=2026-08-03&to=2026-09-27&compare=before')
    const earlier = await pageOf(served, 'cost?from=2026-06-08&to=2026-08-02')
    expect(page.compared).toMatchObject({ before: { from: '2026-06-08', to: '2026-08-02' }, shift: 56 })
    for (const id of ['cost-totals', 'cost-by-week', 'cost-by-trade']) {
      const { rows, isCompared } = panelOf(page, id)
      expect([id, isCompared, sumOf(rows, 'before_cost')]).toEqual([
        ...[id, true],
        expect.closeTo(sumOf(panelOf(earlier, id).rows, 'cost'), 2),
      ])
    }
    expect(
      panelOf(await pageOf(served, 'money?from=2026-08-03&compare=before'), 'not-invoiced'),
    ).toMatchObject({
      isCompared: false,
    })
  }
})

test('the overview has the figures of the pages that it links to', async () => {
  for (const served of [duckdb, postgres]) {
    const overview = await pageOf(served, 'overview')
    const lastOf = (id: string) =>
      panelOf(overview, id)
        .rows.filter(row => row.is_settled_week)
        .at(-1)
    const cost = panelOf(await pageOf(served, 'cost'), 'cost-by-week').rows.filter(row => row.is_settled_week)
    // Companies end their weeks on different days; a headline has one Sunday for all.
    const sundayOf = (day: unknown): string => {
      const middle = utcDay(String(day), -3)
      return utcDay(middle, 6 - weekday(middle))
    }
    const { week, figure } = lastOf('headline-cost') ?? {}
    const same = cost.filter(row => sundayOf(row.week_ending_date) === week)
    expect(same.reduce((sum, row) => sum + Number(row.cost), 0)).toBeCloseTo(Number(figure), 2)
    const anHour = lastOf('headline-cost-an-hour') ?? {}
    expect(Number(anHour.figure)).toBeCloseTo(Number(anHour.numerator) / Number(anHour.denominator), 6)
    const workers = panelOf(await pageOf(served, 'headcount'), 'headcount').rows.filter(
      row => row.is_settled_week,
    )
    expect(panelOf(overview, 'headline-workers').rows.find(row => row.is_settled_week)).toMatchObject({
      ...{ week: workers.at(-1)?.week_ending_date, figure: workers.at(-1)?.with_hours },
    })
    const near = panelOf(await pageOf(served, 'hours'), 'near-and-over').rows
    const { matters } = panelOf(overview, 'attention-hours').rows[0] ?? {}
    expect(near.filter(row => Number(row.avg_17_week_hours) >= 44)).toHaveLength(Number(matters))
  }
})

test('what explains a change adds up to it', async () => {
  const { rows } = panelOf(await pageOf(duckdb, 'overview'), 'headline-cost')
  const settled = rows.filter(row => row.is_settled_week).map(row => Number(row.figure))
  const before = settled.slice(-5, -1).reduce((sum, figure) => sum + figure, 0) / 4
  const members = rows.filter(row => row.now_figure !== null)
  const change = members.reduce((sum, row) => sum + Number(row.now_figure) - Number(row.figure_before), 0)
  expect(members.length).toBeGreaterThan(1)
  expect(members.length).toBeLessThanOrEqual(20)
  if (members.length < 20) expect(change).toBeCloseTo((settled.at(-1) ?? 0) - before, 2)
})

test('the first day of the filter takes nothing from what a headline is compared with', async () => {
  const whole = panelOf(await pageOf(duckdb, 'overview'), 'headline-cost')
  const narrow = panelOf(await pageOf(duckdb, 'overview?from=2026-09-01'), 'headline-cost')
  expect(comparable(narrow)).toEqual(comparable(whole))
  expect(narrow.ignored).toEqual([])
})

test('the tiles and the chart of the hours show the same week, and name it', async () => {
  for (const served of [duckdb, postgres]) {
    const page = await pageOf(served, 'hours')
    const [tile] = panelOf(page, 'hours-totals').rows
    const settled = panelOf(page, 'over-by-week').rows.filter(row => row.is_settled_week)
    const { week_ending_date, over_48, average_over_48 } = settled.at(-1) ?? {}
    expect(tile).toMatchObject({ week_ending_date, over_48, average_over_48 })
    for (const row of panelOf(page, 'near-and-over').rows)
      expect([row.worker_reference, row.week_ending_date]).toEqual([row.worker_reference, week_ending_date])
  }
})

test.each([
  ['', 'client'],
  ['?perspective=client', 'client'],
  ['?perspective=provider', 'provider'],
  ['?perspective=supplier', 'supplier'],
])('money%s has each invoice once, as the %s sees it', async (query, perspective) => {
  const types = {
    client: ['supplierToClient', 'mspToClient'],
    provider: ['supplierToMsp'],
    supplier: ['supplierToClient', 'supplierToMsp'],
  }[perspective]
  const [billed] = await file.rows<{ total: string; n: number }>(
    `select cast(sum(final_total) as text) as total, count(*)::int as n from star.fact_invoice
     where not is_deleted and week_ending_date is not null and invoice_type in (${types?.map(one => `'${one}'`)})`,
  )
  expect(billed?.n).toBeGreaterThan(0)
  for (const served of [duckdb, postgres]) {
    const panel = panelOf(await pageOf(served, `money${query}`), 'invoiced-by-week')
    const shown = panel.rows.reduce((sum, row) => sum + Number(row.invoiced), 0)
    expect(shown).toBeCloseTo(Number(billed?.total), 2)
    expect(panel).toMatchObject({ perspective, about: expect.stringContaining(`The ${perspective}'s view`) })
  }
})

test('a report shows invoices as the client sees them, and can be switched', async () => {
  const html = await writeReport(duckdb.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z' })
  const [, text = ''] = /id="report">(.*?)<\/script>/s.exec(html) ?? []
  const { pages: all, views } = JSON.parse(text) as ReportData
  const shown = all.find(({ id }) => id === 'money')?.panels.filter(({ id }) => id === 'outstanding')
  expect(shown?.map(({ perspective }) => perspective)).toEqual(['client'])
  for (const perspective of ['provider', 'supplier']) {
    const { outstanding, 'cost-totals': cost } = views[`perspective=${perspective}`] ?? {}
    expect(outstanding?.changed).toMatchObject([{ perspective, sql: expect.stringContaining(perspective) }])
    expect(cost).toEqual({ ignored: ['perspective'] })
  }
})

test('a compared report has what the pages have, also under each filter', async () => {
  const query = 'from=2026-08-03&to=2026-09-27&compare=before'
  const html = await writeReport(duckdb.reader, {
    pages: [pageNamed('cost')],
    filters: readFilters(new URLSearchParams(query)),
    madeAt: '2026-11-02T02:30:00.000Z',
  })
  const [, text = ''] = /id="report">(.*?)<\/script>/s.exec(html) ?? []
  const {
    pages: [cost],
    views,
  } = JSON.parse(text) as ReportData
  expect(cost).toEqual(await pageOf(duckdb, `cost?${query}`))
  const [agency = ''] = Object.keys(views).filter(view => view.startsWith('agency='))
  const { panels } = await pageOf(duckdb, `cost?${query}&${agency}`)
  const { rows, isCompared } = panels.find(({ id }) => id === 'cost-totals') as PanelAnswer
  expect(Number(rows[0]?.before_cost)).toBeGreaterThan(0)
  expect(views[agency]?.['cost-totals']?.changed).toMatchObject([{ rows, isCompared }])
})

test('a report of some pages has these alone, and their panels under each filter', async () => {
  const html = await writeReport(duckdb.reader, {
    pages: [pageNamed('cost')],
    filters: noFilters,
    madeAt: '2026-11-02T02:30:00.000Z',
  })
  const [, text = ''] = /id="report">(.*?)<\/script>/s.exec(html) ?? []
  const { pages: shown, views } = JSON.parse(text) as ReportData
  expect(shown.map(({ id }) => id)).toEqual(['cost'])
  const panels = new Set(pageNamed('cost').panels.map(({ id }) => id))
  const under = Object.values(views).flatMap(Object.keys)
  expect(under.length).toBeGreaterThan(0)
  expect(under.filter(id => !panels.has(id))).toEqual([])
})

test('values are bound: a value that looks like SQL finds nothing', async () => {
  for (const [value, written] of [
    ["x' or '1'='1", `= 'x'' or ''1''=''1'`],
    ["$& $` $' $$ $1", "= '$& $` $'' $$ $1'"],
  ] as const)
    for (const served of [duckdb, postgres]) {
      const page = await pageOf(served, `cost?agency=${encodeURIComponent(value)}`)
      expect(panelOf(page, 'cost-by-agency')).toMatchObject({ rows: [], failure: null })
      expect(panelOf(page, 'cost-by-agency').sql).toContain(written)
    }
})

test.each([
  ['/api/pages/nothing', 400, 'there is no page nothing'],
  ['/api/pages/cost?from=yesterday', 400, 'from is not a day'],
  ['/api/pages/money?perspective=everyone', 400, 'perspective is not one'],
  ['/api/pages/cost?compare=yesterday', 400, 'compare is not a period'],
  ['/api/pages/cost?from=2026-06-02&to=2026-06-01', 400, 'the last day is before the first'],
  [
    `/api/pages/cost?agency=${Array.from({ length: 51 }, (_, index) => index).join('&agency=')}`,
    400,
    'too many',
  ],
  ['/api/rows/cost-by-agency?row.worker_id=1', 400, 'rows cannot be chosen by worker_id'],
  ['/api/rows/nothing', 400, 'there is no panel nothing'],
  ['/api/other', 404, 'nothing is at this address'],
])('%s is answered %i', async (path, status, words) => {
  const answer = await duckdb.get(path)
  expect(answer.status).toBe(status)
  expect(((await answer.json()) as { error: string }).error).toContain(words)
})

test('names to filter by come from the marts', async () => {
  const choices = (await (await postgres.get('/api/choices')).json()) as Record<string, { name: string }[]>
  for (const name of ['company', 'project', 'site', 'agency', 'trade']) {
    expect(choices[name]?.length).toBeGreaterThan(1)
    expect(choices[name]?.every(choice => choice.name.length > 0)).toBe(true)
  }
})

test('rows come as CSV in which no cell is a formula', async () => {
  const csv = await (await duckdb.get('/api/csv/cost-totals')).text()
  const [head, ...lines] = csv.trimEnd().split('\r\n')
  expect(head).toContain('week_ending_date,')
  expect(lines.length).toBeGreaterThan(100)
})

/** fetch does not let a Host header be set. */
const statusFor = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { host } }, answer => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })

test('a page of another host name gets nothing', async () => {
  for (const path of ['', 'main.js', 'api/pages']) {
    expect(await statusFor(duckdb.url + path, 'evil.example.com')).toBe(421)
    expect(await statusFor(duckdb.url + path, 'localhost:1')).toBe(200)
  }
})

test('with a token, only those who have it get figures', async () => {
  const guarded = await serveDashboard(file, { token: 'right' })
  try {
    expect((await guarded.get('/')).status).toBe(200)
    expect((await guarded.get('/api/pages/cost')).status).toBe(401)
    expect((await guarded.get('/api/pages/cost', { authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await guarded.get('/api/pages/cost', { authorization: 'Bearer right' })).status).toBe(200)
  } finally {
    await guarded.close()
  }
})

test('no script but its own file may run, and no other page may frame it', async () => {
  const answer = await duckdb.get('/')
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self';")
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(await answer.text()).not.toMatch(/<script>|\son\w+=/)
})

describe('amounts in three currencies', () => {
  const three = ['EUR', 'GBP', 'USD']
  const hasMoney = ({ show }: Pick<PanelAnswer, 'show'>): boolean =>
    ('figures' in show ? show.figures : 'figure' in show ? [show.figure] : []).some(
      ({ unit }) => unit === 'money' || unit === 'price',
    )

  beforeAll(async () => {
    const marts = await file.rows<{ name: string }>(
      `select c.table_name as name from information_schema.columns as c
       inner join information_schema.tables as t on t.table_schema = c.table_schema and t.table_name = c.table_name
       where c.table_schema = 'mart' and c.column_name = 'currency' and t.table_type = 'BASE TABLE'`,
    )
    for (const { name } of marts)
      await file.run(
        `update mart.${name} set currency = case rowid % 3 when 0 then 'EUR' when 1 then 'GBP' else 'USD' end`,
      )
    await duckdb.close()
    duckdb = await serveDashboard(file)
  })

  test.each(pages.map(({ id }) => id))(
    'on page %s, each has a panel of its own, and no figure is of two',
    async id => {
      const { panels } = await pageOf(duckdb, id)
      for (const panel of panels.filter(hasMoney)) {
        if (panel.rows.length === 0) continue
        expect([panel.id, three]).toEqual([panel.id, expect.arrayContaining([panel.currency])])
        expect(panel.sql).toContain(`"currency" = '${panel.currency}'`)
        expect([panel.id, panel.failure]).toEqual([panel.id, null])
      }
      for (const panel of panels.filter(one => !hasMoney(one)))
        expect([panel.id, panel.currency]).toEqual([panel.id, null])
      const names = panels.map(panel => `${panel.id} ${panel.currency}`)
      expect(new Set(names).size).toBe(names.length)
    },
  )

  test('every panel that adds up an amount counts as one with money', () => {
    for (const { panels } of pages)
      for (const { id, sql, show } of panels) {
        const amounts = (sql.match(/sum\((\w+)\)/g) ?? []).filter(one => isAmount(one.slice(4, -1)))
        if (amounts.length > 0) expect([id, hasMoney({ show })]).toEqual([id, true])
      }
  })

  test('the figure of each is the sum of its own rows, which it leads to', async () => {
    const page = await pageOf(duckdb, 'cost')
    const own = await file.rows<{ currency: string; cost: string }>(
      `select l.currency, sum(l.cost_value) as cost from mart.labour_spend_weekly as l
       where l.week_ending_date <= (select max(s.week_ending_date) from mart.labour_spend_weekly as s where s.is_settled_week and s.currency = l.currency)
       group by l.currency order by l.currency`,
    )
    const totals = page.panels.filter(({ id }) => id === 'cost-totals')
    expect(
      totals.map(({ currency, rows }) => ({ currency, cost: Number(rows[0]?.cost).toFixed(3) })),
    ).toEqual(own.map(({ currency, cost }) => ({ currency, cost: Number(cost).toFixed(3) })))
    const answer = await duckdb.get('/api/rows/cost-totals?currency=EUR')
    const { rows } = (await answer.json()) as RowsAnswer
    expect(new Set(rows.map(({ currency }) => currency))).toEqual(new Set(['EUR']))
    const one = await pageOf(duckdb, 'cost?currency=EUR')
    expect(panelOf(one, 'cost-totals').rows[0]?.cost).toBe(totals[0]?.rows[0]?.cost)
  })

  test('a report has them apart, also under a filter', async () => {
    const html = await writeReport(duckdb.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z' })
    const [, text = ''] = /id="report">(.*?)<\/script>/s.exec(html) ?? []
    const report = JSON.parse(text) as ReportData
    const costs = report.pages
      .find(({ id }) => id === 'cost')
      ?.panels.filter(({ id }) => id === 'cost-totals')
    expect(costs?.map(({ currency }) => currency)).toEqual(three)
    const under = Object.values(report.views).flatMap(view => view['cost-totals']?.changed ?? [])
    expect(under.length).toBeGreaterThan(3)
    for (const { sql, rows, currency } of under)
      expect(rows.length === 0 || currency === null || sql.includes(`"currency" = '${currency}'`)).toBe(true)
  })
})

/** What people and programs write into addresses. */
const hostile = [
  `'; drop table mart.labour_spend_weekly; --`,
  '%25%27%22',
  '%',
  '\u0000',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '\u{1f600}\u202e',
  'x'.repeat(10_240),
]

test.each(hostile.map(value => [value.slice(0, 20), value]))(
  'a value such as %s is refused or finds nothing',
  async (_, value) => {
    for (const served of [duckdb, postgres])
      for (const path of [
        ...['company', 'agency', 'from', 'to', 'currency', 'other'].map(
          name => `/api/pages/cost?${name}=${encodeURIComponent(value)}`,
        ),
        `/api/rows/cost-by-agency?row.agency_id=${encodeURIComponent(value)}`,
        `/api/rows/cost-by-agency?row.${encodeURIComponent(value)}=1`,
        `/api/pages/${encodeURIComponent(value)}`,
        `/api/csv/${encodeURIComponent(value)}`,
      ]) {
        const answer = await served.get(path)
        const text = await answer.text()
        expect([path.slice(0, 80), [200, 400, 404, 414].includes(answer.status)]).toEqual([
          path.slice(0, 80),
          true,
        ])
        expect(text).not.toMatch(/\n\s+at |node_modules|src\/|"failure":"/)
      }
  },
)

test.each(['/api/pages/cost?company=%', '/api/pages/cost?company=%ff', '/api/pages/%ff', '/api/rows/%'])(
  'the broken address %s is answered in words',
  async path => {
    const answer = await duckdb.get(path)
    expect(answer.status).toBeLessThan(500)
    expect(await answer.text()).not.toMatch(/\n\s+at /)
  },
)
