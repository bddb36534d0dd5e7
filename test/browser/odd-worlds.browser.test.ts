/** The dashboard and its report over worlds that nobody planned for, in a real Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noFilters } from '../../src/dashboard/filters.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { writeReport } from '../../src/dashboard/report.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { quoteName, quoteText } from '../../src/warehouse/sql-text.ts'
import { serveDashboard } from '../dashboard/served.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { database, onServer } from '../support/postgres-database.ts'
import { structureName } from '../support/warehouse-fixture.ts'
import { chromiumFile, openChromium } from './chromium.ts'

const filled = useFilled()
const folder = mkdtempSync(join(tmpdir(), 'muster-odd-'))
let browser: Browser
let engine: Engine

const oddNames = [
  'Zoë 👷‍♀️🏗️ & Søn',
  'شركة البناء العربية للتوظيف',
  `O'Brien "Quick" \\ Co.`,
  '</script><script>alert(1)</script>',
  `<img src=x onerror="alert(2)">${'long '.repeat(34)}`,
  'w'.repeat(200),
  '{{7*7}} %00 $1',
  ' ',
]

/** Every name of every mart, by its row, so that each of them is somewhere on every page. */
async function renameAll(made: Engine): Promise<void> {
  const columns = await made.rows<{ mart: string; name: string }>(
    `select c.table_name as mart, c.column_name as name from information_schema.columns as c
     join information_schema.tables as t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = 'mart' and t.table_type = 'BASE TABLE' and c.data_type = 'VARCHAR'
       and (c.column_name like '%\\_name' escape '\\' or c.column_name in ('name', 'reference', 'worker_reference'))
       and c.table_name <> 'data_health'`,
  )
  const list = `[${oddNames.map(quoteText).join(', ')}]`
  for (const { mart, name } of columns)
    await made.run(
      `update mart.${quoteName(mart)} set ${quoteName(name)} = ${list}[1 + cast(hash(${quoteName(name)}) % ${oddNames.length} as integer)]`,
    )
}

interface Look {
  readonly page: Page
  readonly troubles: string[]
}

async function look(address: string, width = 1280): Promise<Look> {
  // A colour in the middle of a transition has no contrast of its own.
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  const troubles: string[] = []
  page.on('console', one => ['error', 'warning'].includes(one.type()) && troubles.push(one.text()))
  page.on('pageerror', error => troubles.push(error.message))
  page.on('dialog', one => {
    troubles.push(`a name ran: ${one.message()}`)
    void one.dismiss()
  })
  await page.goto(address)
  await page.waitForSelector('.panel .body > *, .notice')
  return { page, troubles }
}

/** Nothing that a reader could take for a fault: console, access, width, and words of programs. */
async function faultsOf({ page, troubles }: Look): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const words = (await page.locator('main').textContent()) ?? ''
  const isWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )
  return [
    ...troubles,
    ...serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`),
    ...(/\bundefined\b|\bNaN\b|\[object|Invalid Date|\n\s+at /.exec(words) ?? []),
    ...(isWide ? ['it is too wide'] : []),
  ]
}

async function faultsAt(
  url: string,
  query = '',
  widths: readonly number[] = [1280, 390],
): Promise<unknown[]> {
  const found: unknown[] = []
  for (const { id } of pages)
    for (const width of widths) {
      const seen = await look(`${url}?page=${id}${query}`, width)
      const faults = await faultsOf(seen)
      if (faults.length > 0) found.push([id, width, faults])
      await seen.page.close()
    }
  return found
}

describe.skipIf(!chromiumFile)('in Chromium', () => {
  beforeAll(async () => {
    engine = (await filled.duckdb()).engine
    await buildAll(engine)
    await renameAll(engine)
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('names with emoji, of other scripts, with quotes, with elements, and very long ones', async () => {
    const served = await serveDashboard(engine)
    try {
      expect(await faultsAt(served.url)).toEqual([])
      const { page, troubles } = await look(`${served.url}?page=suppliers`)
      const text = (await page.locator('main').textContent()) ?? ''
      expect(oddNames.filter(name => text.includes(name.slice(0, 10).trim())).length).toBeGreaterThan(2)
      expect(await page.locator('main img').count()).toBe(0)
      expect(troubles).toEqual([])
      await page.close()
    } finally {
      await served.close()
    }
  })

  test('a report of such names', async () => {
    const served = await serveDashboard(engine)
    const file = join(folder, 'report.html')
    writeFileSync(
      file,
      await writeReport(served.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z' }),
    )
    await served.close()
    const seen = await look(pathToFileURL(file).href)
    for (const { title } of pages) {
      await seen.page.locator('nav a', { hasText: title }).click()
      await expect.poll(() => seen.page.title()).toContain(title)
      expect([title, await faultsOf(seen)]).toEqual([title, []])
    }
    await seen.page.close()
  })

  test.each([
    ['dates that hold nothing', '&from=1990-01-01&to=1990-02-01'],
    ['days to come', '&from=2090-01-01'],
    ['an id that nobody has', '&company=nobody&agency=nobody&project=nobody&site=nobody&trade=nobody'],
  ])('%s: words, no faults', async (_, query) => {
    const served = await serveDashboard(engine)
    try {
      expect(await faultsAt(served.url, query, [1280])).toEqual([])
      const { page } = await look(`${served.url}?page=cost${query}`)
      const words = await page.locator('.empty').allTextContents()
      expect(words).toContainEqual(expect.stringContaining('No approved timesheets here'))
      await page.close()
    } finally {
      await served.close()
    }
  })

  test('shows that dates end before they begin, and lets the reader change them', async () => {
    const served = await serveDashboard(engine)
    try {
      const { page } = await look(`${served.url}?page=cost&from=2026-06-01&to=2026-01-01`)
      expect(await page.locator('.notice').textContent()).toContain('the last day is before the first')
      await page.getByLabel('To', { exact: true }).fill('2026-07-01')
      await page.waitForSelector('.panel')
      expect(page.url()).toContain('to=2026-07-01')
      expect(await page.locator('.notice').count()).toBe(0)
      await page.close()
    } finally {
      await served.close()
    }
  })

  test('one company with one of everything', async () => {
    const marts = await engine.rows<{ mart: string }>(
      `select distinct c.table_name as mart from information_schema.columns as c
       join information_schema.tables as t on t.table_schema = c.table_schema and t.table_name = c.table_name
       where c.table_schema = 'mart' and t.table_type = 'BASE TABLE' and c.column_name = 'company_id'`,
    )
    const [{ id } = { id: '' }] = await engine.rows<{ id: string }>(
      'select min(company_id) as id from mart.labour_spend_weekly',
    )
    for (const { mart } of marts)
      await engine.run(`delete from mart.${quoteName(mart)} where company_id is distinct from '${id}'`)
    const served = await serveDashboard(engine)
    try {
      expect(await faultsAt(served.url, '', [1280])).toEqual([])
    } finally {
      await served.close()
    }
  })

  test('a warehouse that was never built, and its report', async () => {
    const made = await openDuckdb(join(folder, 'new.duckdb'))
    const served = await serveDashboard(made)
    try {
      expect(await faultsAt(served.url, '', [390])).toEqual([])
      const { page } = await look(`${served.url}?page=cost`)
      expect(await page.locator('main').textContent()).toContain('run muster build')
      await page.close()
      const file = join(folder, 'new.html')
      writeFileSync(
        file,
        await writeReport(served.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z' }),
      )
      const seen = await look(pathToFileURL(file).href)
      expect(await faultsOf(seen)).toEqual([])
      expect(await seen.page.locator('main').textContent()).toContain('run muster build')
      await seen.page.close()
    } finally {
      await served.close()
      await made.close()
    }
  })

  test('asks a login of PostgreSQL without rights to request them', async () => {
    const made = await database(structureName())
    const role = `q${process.pid}_nothing`
    await onServer(`create role ${role} login password 'for this test'`)
    const url = new URL(made.url)
    url.username = role
    url.password = 'for this test'
    const poor = await openPostgres({ url: url.href, shown: 'server' }, { scratch: join(folder, 'scratch') })
    const served = await serveDashboard(poor)
    try {
      expect(await faultsAt(served.url, '&company=c1', [1280])).toEqual([])
      const { page } = await look(`${served.url}?page=hours`)
      expect(await page.locator('main').textContent()).toContain('ask for rights to schema mart')
      await page.close()
    } finally {
      await served.close()
      await poor.close()
      await made.drop()
      await onServer(`drop role if exists ${role}`)
    }
  })
})
