/** The dashboard in a real Chromium: every page with data, empty, and after a failed night; what people do on it; its pictures. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageAnswer } from '../../src/dashboard/answers.ts'
import { noFilters } from '../../src/dashboard/filters.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { writeReport } from '../../src/dashboard/report.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type Served, serveDashboard } from '../dashboard/served.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { chromiumFile, openChromium } from './chromium.ts'

/** `MUSTER_PICTURES=docs npm run test:browser` writes those of the docs; the path of a folder, all of them in full. */
const { MUSTER_PICTURES: wanted } = process.env
const isForDocs = wanted === 'docs'
const filled = useFilled({ scale: 1 })
const folder = mkdtempSync(join(tmpdir(), 'muster-browser-'))
const pictures = isForDocs
  ? fileURLToPath(new URL('../../docs/images/', import.meta.url))
  : (wanted ?? folder)

let browser: Browser
let engine: Engine
let full: Served
let empty: Served
let blank: Engine
const troubles: string[] = []

if (!chromiumFile)
  console.log('There is no Chromium here: the tests of the dashboard in a browser were left out.')

async function blankMarts(): Promise<Engine> {
  const made = await openDuckdb(join(folder, 'blank.duckdb'))
  const tables = await engine.rows<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'mart' and table_type = 'BASE TABLE' order by 1`,
  )
  await made.run('create schema if not exists mart')
  for (const { name } of tables) {
    const columns = await engine.rows<{ name: string; type: string }>(
      `select column_name as name, data_type as type from information_schema.columns
       where table_schema = 'mart' and table_name = $1 order by ordinal_position`,
      [name],
    )
    await made.run(
      `create table mart.${name} (${columns.map(one => `"${one.name}" ${one.type}`).join(', ')})`,
    )
  }
  const views = await engine.rows<{ sql: string }>(
    `select sql from duckdb_views() where schema_name = 'mart'`,
  )
  for (const { sql } of views) await made.run(sql)
  return made
}

/** When the pictures are taken: five hours after the last read, whenever the tests run. */
const pictured = `cast('2026-11-02T07:30:00Z' as timestamptz)`

/** How long ago something was is told against the clock; here it stands, so that pictures do not change by themselves. */
async function atOneMoment(made: Engine): Promise<Engine> {
  const [view] = await made.rows<{ sql: string }>(
    `select sql from duckdb_views() where schema_name = 'mart' and view_name = 'freshness'`,
  )
  const text =
    view?.sql.replaceAll('now()', pictured).replace(/^create view/i, 'create or replace view') ?? ''
  await made.run(text)
  const rows: Engine['rows'] = (sql, values) => made.rows(sql.replaceAll('now()', pictured), values)
  return Object.assign(Object.create(made) as Engine, { rows })
}

async function opened(
  url: string,
  { width = 1280, theme = 'light' as 'light' | 'dark' } = {},
): Promise<Page> {
  const page = await browser.newPage({
    reducedMotion: 'reduce',
    viewport: { width, height: 900 },
    colorScheme: theme,
    locale: 'en-GB',
  })
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`${url}: ${message.text()}`)
  })
  page.on('pageerror', error => troubles.push(`${url}: ${error.message}`))
  await page.goto(url)
  await page.waitForSelector('.panel .body > *')
  return page
}

/** Of the two highest kinds, as axe-core ranks them. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

describe.skipIf(!chromiumFile)('in Chromium', () => {
  beforeAll(async () => {
    engine = (await filled.duckdb()).engine
    await buildAll(engine)
    engine = await atOneMoment(engine)
    full = await serveDashboard(engine)
    blank = await blankMarts()
    empty = await serveDashboard(blank)
    browser = await openChromium()
  }, 240_000)

  afterAll(async () => {
    await browser?.close()
    await full?.close()
    await empty?.close()
    await blank?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  describe.each(pages.map(({ id }) => id))('%s', id => {
    test.each([
      { width: 1440, theme: 'light' as const },
      { width: 1440, theme: 'dark' as const },
      { width: 390, theme: 'light' as const },
      { width: 390, theme: 'dark' as const },
    ])('with data, $width px, $theme', async view => {
      const page = await opened(`${full.url}?page=${id}`, view)
      expect(await page.locator('.notice').allTextContents()).toEqual([])
      expect(await isTooWide(page)).toBe(false)
      expect(await seriousFindings(page)).toEqual([])
      const narrow = view.width === 390 ? '-narrow' : ''
      const name = `${id}${narrow}${view.theme === 'dark' ? '-dark' : ''}`
      await page.screenshot({
        path: join(pictures, `dashboard-${name}.png`),
        fullPage: !isForDocs || view.width > 390,
      })
      await page.close()
      expect(troubles.splice(0)).toEqual([])
    })

    test('empty: each panel says what to do', async () => {
      const page = await opened(`${empty.url}?page=${id}`)
      expect(await page.locator('.notice').allTextContents()).toEqual([])
      if (id !== 'data-health') expect(await page.locator('.empty').count()).toBeGreaterThan(0)
      expect(await seriousFindings(page)).toEqual([])
      await page.close()
      expect(troubles.splice(0)).toEqual([])
    })
  })

  test('after a failed DAG run, data health says so and names the command', async () => {
    const before = await engine.rows<Record<string, unknown>>(
      'select resource, is_complete, failed_error_checks from mart.data_health',
    )
    await engine.run(
      `update mart.data_health set is_complete = false, completeness = 'incomplete', failed_error_checks = 2, failed_checks = 2, quarantined_records = 31,
         incomplete_reason = '31 records are in quarantine, 20 are tolerable', withheld_deletions = 412
       where resource = 'timesheets'`,
    )
    await engine.run(
      `update mart.request_budget set remaining_today = 3, observed_at = timestamptz '2026-11-02 02:30:00+00'`,
    )
    const failed = await serveDashboard(engine)
    try {
      const page = await opened(`${failed.url}?page=data-health`)
      expect(before.length).toBeGreaterThan(5)
      const bad = await page.locator('.verdict.bad').allTextContents()
      expect(bad.join('\n')).toMatch(/Proved complete[\s\S]*timesheets[\s\S]*muster status/)
      expect(bad.join('\n')).toMatch(/Checks passed[\s\S]*timesheets[\s\S]*muster check/)
      expect(bad.join('\n')).toMatch(
        /Every record loaded[\s\S]*31 in quarantine: timesheets[\s\S]*muster status/,
      )
      expect(bad.join('\n')).toMatch(
        /Deletions confirmed[\s\S]*412 withheld: timesheets[\s\S]*muster sweep timesheets/,
      )
      expect(bad.join('\n')).toMatch(/Requests left[\s\S]*3 of [\d,]+ left of the day[\s\S]*muster plan/)
      expect(await seriousFindings(page)).toEqual([])
      await page.screenshot({ path: join(pictures, 'dashboard-data-health-failed.png'), fullPage: true })
      await page.close()
      for (const { id } of pages) {
        const other = await opened(`${failed.url}?page=${id}`)
        expect(await other.locator('.notice').allTextContents()).toEqual([])
        expect(await seriousFindings(other)).toEqual([])
        await other.close()
      }
    } finally {
      await failed.close()
    }
    expect(troubles.splice(0)).toEqual([])
  })

  test('a filter goes into the address, comes back with it, and leaves by Back', async () => {
    const page = await opened(`${full.url}?page=cost`)
    const total = await page.locator('#cost-totals dd').first().textContent()
    await page.locator('.filter summary', { hasText: 'Agency' }).click()
    const name = (await page.locator('details[open] .choices label').nth(1).textContent()) ?? ''
    await page.locator('details[open] .choices input').nth(1).check()
    await expect.poll(() => page.locator('#cost-totals dd').first().textContent()).not.toBe(total)
    expect(page.url()).toContain('agency=')
    const again = await opened(page.url())
    expect(await again.locator('#cost-by-agency svg').textContent()).toContain(name.slice(0, 10))
    await page.goBack()
    await expect.poll(() => page.locator('#cost-totals dd').first().textContent()).toBe(total)
    await again.close()
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('rows behind a bar that is no filter open by pointer and by keyboard, with their SQL; Escape closes them', async () => {
    const page = await opened(`${full.url}?page=cost`)
    await page.locator('#cost-codes g[data-layer="bar"] > *').first().click()
    await page.waitForSelector('dialog table tbody tr')
    expect(await page.locator('dialog pre').textContent()).toMatch(
      /from mart."?cost_code_spend"?\s+where "?cost_code_name"? = '/,
    )
    const heads = await page.locator('dialog thead th').allTextContents()
    expect(heads[0]).toMatch(/name|reference/i)
    expect(heads.findIndex(head => /^(Company|Project)$/.test(head))).toBeGreaterThan(0)
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await page.locator('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Table of By cost code' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('#cost-codes tbody button').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog table tbody tr')
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('a click on a bar filters the page, the filter is a chip, and Back and the chip remove it', async () => {
    const page = await opened(`${full.url}?page=cost`)
    const total = page.locator('#cost-totals dd').first()
    const whole = await total.textContent()
    await page.locator('#cost-by-agency g[data-layer="bar"] > *').first().click()
    await expect.poll(() => total.textContent()).not.toBe(whole)
    expect(page.url()).toContain('agency=')
    expect(await page.locator('.chip').allTextContents()).toEqual([expect.stringMatching(/^Agency: \w/)])
    expect(await seriousFindings(page)).toEqual([])
    await page.goBack()
    await expect.poll(() => total.textContent()).toBe(whole)
    expect(await page.locator('.chip').count()).toBe(0)
    await page.getByRole('button', { name: 'Table of By agency' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('#cost-by-agency tbody button').first().focus()
    await page.keyboard.press('Enter')
    await page.locator('.chip button').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => total.textContent()).toBe(whole)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('a preset sets both dates, and a member that is gone is named by its chip', async () => {
    const page = await opened(`${full.url}?page=cost&agency=gone`)
    expect(await page.locator('.chip.unknown').textContent()).toContain('gone is not in the data any more')
    await page.locator('.chip button').click()
    await page
      .getByRole('combobox', { name: 'Dates', exact: true })
      .selectOption({ label: 'Last 4 settled weeks' })
    await expect.poll(() => page.locator('.chip').count()).toBe(2)
    expect(page.url()).toMatch(/from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('the overview shows eight figures with their units, and links what needs attention to its panel', async () => {
    const page = await opened(full.url)
    expect(await page.title()).toContain('Overview')
    const large = await page.locator('.headline .large').allTextContents()
    expect(large).toHaveLength(8)
    expect(large[0]).toMatch(/^£[\d.]+k?$/)
    expect(large[2]).toMatch(/^£\d+\.\d\d an hour$/)
    expect(large[7]).toMatch(/^[\d.]+ days?$/)
    for (const id of ['headline-cost', 'headline-days-to-fill']) {
      const said = await page.locator(`#${id} .body`).textContent()
      expect(said).toMatch(/4 weeks before/)
      expect(said).toMatch(/last year/)
      expect(await page.locator(`#${id} .spark svg`).count()).toBe(1)
    }
    const link = page.locator('.attention .matters a').first()
    await link.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).not.toContain('page=overview')
    await expect.poll(() => page.evaluate('document.activeElement.className')).toContain('panel')
    await page.goBack()
    await expect.poll(() => page.title()).toContain('Overview')
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test.each(pages.map(({ id }) => id))(
    '%s prints with no table cut and no panel wider than the paper',
    async id => {
      const page = await opened(`${full.url}?page=${id}`, { width: 760 })
      await page.emulateMedia({ media: 'print' })
      const cut = await page.evaluate(
        `[...document.querySelectorAll('.scroll')].filter(one => one.scrollHeight > one.clientHeight + 1).length`,
      )
      expect(cut).toBe(0)
      expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
      await page.close()
      expect(troubles.splice(0)).toEqual([])
    },
  )

  test('a report prints as one PDF: every page on sheets of its own, no text cut or wider than the paper', async () => {
    const file = join(folder, 'printed.html')
    writeFileSync(
      file,
      await writeReport(full.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z', members: 0 }),
    )
    const page = await opened(pathToFileURL(file).href, { width: 718 })
    const pdf = await page.pdf({ preferCSSPageSize: true })
    const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0
    expect(sheets).toBeGreaterThanOrEqual(pages.length)
    expect(sheets).toBeLessThan(6 * pages.length)
    expect(await page.locator('.printed').count()).toBe(0)
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    expect(await page.locator('.printed h1').allTextContents()).toEqual(pages.map(({ question }) => question))
    expect(await page.locator('.printed .panel .body:empty').count()).toBe(0)
    const cut = await page.evaluate(
      `[...document.querySelectorAll('.printed .panel *')]
        .filter(one => one.getBoundingClientRect().right > 718 + 1 || (one.className === 'scroll' && one.scrollHeight > one.clientHeight + 1))
        .map(one => one.closest('.panel').id + ' ' + one.tagName + ' ' + one.textContent.slice(0, 40))`,
    )
    expect(cut).toEqual([])
    if (!isForDocs) writeFileSync(join(pictures, 'report.pdf'), pdf)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('the switch compares with the period before: tiles say the change, charts and tables show both', async () => {
    const page = await opened(`${full.url}?page=cost`)
    await page.getByLabel('Compare with the period before').check()
    await expect.poll(() => page.locator('.compared').textContent()).toContain('compared with')
    expect(page.url()).toMatch(/from=.*compare=before|compare=before.*from=/)
    expect(await page.locator('#cost-totals .change').first().textContent()).toMatch(
      /^(up|down) [\d.]+% on £[\d,]+$/,
    )
    expect(await page.locator('#cost-by-week g[data-layer="before"] path').count()).toBeGreaterThan(0)
    expect(await page.locator('#cost-by-agency g[data-layer="before"] > *').count()).toBeGreaterThan(3)
    await page.screenshot({ path: join(pictures, 'dashboard-cost-compared.png'), fullPage: true })
    await page.getByRole('button', { name: 'Table of By agency' }).click()
    expect(await page.locator('#cost-by-agency thead th').allTextContents()).toContain('Labour cost, before')
    expect(await seriousFindings(page)).toEqual([])
    await page.locator('nav a', { hasText: 'Hours' }).click()
    await expect.poll(() => page.title()).toContain('Hours')
    expect(await page.getByLabel('Compare with the period before').isChecked()).toBe(true)
    expect(await page.locator('#hours-totals .change').first().textContent()).toMatch(/ on /)
    await page.close()
    const long = await opened(`${full.url}?page=cost&from=2020-01-01&compare=before`, { width: 390 })
    expect(await long.locator('.compared').textContent()).toContain('Choose fewer weeks')
    expect(await isTooWide(long)).toBe(false)
    await long.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('on a phone the link of the current page is in view', async () => {
    const page = await opened(`${full.url}?page=data-health`, { width: 390 })
    const box = await page.locator('nav a[aria-current]').boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
    await page.close()
  })

  test('the view of a party leaves the address on a page that no party sees otherwise', async () => {
    const page = await opened(`${full.url}?page=hiring&perspective=supplier`)
    expect(page.url()).not.toContain('perspective')
    await page.goto(`${full.url}?page=money&perspective=supplier`)
    await page.waitForSelector('.panel .body > *')
    expect(page.url()).toContain('perspective=supplier')
    await page.locator('nav a', { hasText: 'Cost' }).click()
    await expect.poll(() => page.title()).toContain('Cost')
    expect(page.url()).not.toContain('perspective')
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('a headline without a week of last year says so in words', async () => {
    const page = await opened(`${full.url}?page=overview&to=2025-09-28`)
    expect(await page.locator('#headline-cost .body').textContent()).toContain(
      'The same week last year is not stored or not settled.',
    )
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('bars of nothing but zero, or of nothing known, are a sentence', async () => {
    const page = await opened(`${full.url}?page=compliance`)
    expect(await page.locator('#minimum-wage .empty').textContent()).toMatch(
      /^Lacking to the minimum: £0 in each/,
    )
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('weeks that are not settled are hatched in the heat map', async () => {
    const page = await opened(`${full.url}?page=hours`)
    const hatched = page.locator('#hours-by-site g[data-layer="not-settled"] rect')
    expect(await hatched.count()).toBeGreaterThan(0)
    expect(await hatched.count()).toBeLessThan(
      await page.locator('#hours-by-site g[data-layer="cell"] rect').count(),
    )
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('CSV and PNG are what the panel shows', async () => {
    const page = await opened(`${full.url}?page=cost`)
    const saved = async (label: string): Promise<Buffer> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('#cost-by-week').getByRole('button', { name: label }).click(),
      ])
      const file = join(folder, download.suggestedFilename())
      await download.saveAs(file)
      return readFileSync(file)
    }
    expect((await saved('CSV')).toString()).toMatch(/^week_ending_date,is_settled_week,cost,/)
    const png = await saved('PNG')
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect(png.length).toBeGreaterThan(5000)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('a compared report shows the period before, on paper as well', async () => {
    const file = join(folder, 'compared.html')
    const filters = { ...noFilters, from: '2026-08-03', to: '2026-09-27', isCompared: true }
    const made = { filters, madeAt: '2026-11-02T02:30:00.000Z', members: 1 }
    writeFileSync(file, await writeReport(full.reader, made))
    const page = await opened(`${pathToFileURL(file).href}?page=cost`, { width: 718 })
    expect(await page.locator('.compared').textContent()).toContain('compared with')
    expect(await page.locator('#cost-totals .change').first().textContent()).toMatch(/ on /)
    expect(await page.locator('#cost-by-week g[data-layer="before"] path').count()).toBeGreaterThan(0)
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    expect(await page.locator('.printed .compared').first().textContent()).toContain('compared with')
    expect(await page.locator('.printed g[data-layer="before"]').count()).toBeGreaterThan(1)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('a report is one file that asks no network for anything', async () => {
    const file = join(folder, 'report.html')
    writeFileSync(
      file,
      await writeReport(full.reader, { filters: noFilters, madeAt: '2026-11-02T02:30:00.000Z' }),
    )
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const asked: string[] = []
    page.on('request', one => asked.push(one.url().slice(0, 80)))
    page.on('console', message => message.type() === 'error' && troubles.push(message.text()))
    await page.goto(pathToFileURL(file).href)
    await page.waitForSelector('.panel .body > *')
    for (const { title } of pages) {
      await page.locator('nav a', { hasText: title }).click()
      await expect.poll(() => page.title()).toContain(title)
      expect(await page.locator('.notice').count()).toBe(0)
    }
    await page.locator('nav a', { hasText: 'Cost' }).click()
    const cost = page.locator('#cost-totals dd').first()
    const whole = await cost.textContent()
    await page.getByRole('combobox', { name: 'Agency', exact: true }).selectOption({ index: 1 })
    await expect.poll(() => cost.textContent()).not.toBe(whole)
    const chosen = new URLSearchParams(page.url().split('?')[1]).get('agency')
    const served = await full.get(`/api/pages/cost?agency=${chosen}`)
    const { panels } = (await served.json()) as PageAnswer
    const own = Number(panels.find(({ id }) => id === 'cost-totals')?.rows[0]?.cost)
    expect(await cost.textContent()).toBe(
      new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP', maximumFractionDigits: 0 }).format(
        own,
      ),
    )
    expect(await page.locator('#cost-codes .ignored').textContent()).toContain('agency')
    await page.goBack()
    await expect.poll(() => cost.textContent()).toBe(whole)
    await page.getByRole('combobox', { name: 'Dates', exact: true }).selectOption({ label: 'Last 4 weeks' })
    await expect.poll(() => cost.textContent()).not.toBe(whole)
    expect(asked.filter(url => !/^(file|data|blob):/.test(url))).toEqual([])
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  test('the token of the address opens the page, and does not stay in it', async () => {
    const guarded = await serveDashboard(engine, { token: 'right' })
    try {
      const page = await opened(`${guarded.url}#token=right`)
      expect(page.url()).not.toContain('right')
      await page.close()
    } finally {
      await guarded.close()
    }
    expect(troubles.splice(0)).toEqual([])
  })

  test.each([
    ['?page=cost&agency=%27%22%3Cscript%3E', 0],
    ['?page=cost&from=yesterday', 1],
    [`?page=cost&company=${'x'.repeat(10_240)}`, 1],
    ['?page=nothing&agency=%25', 1],
  ])('an address such as %s shows a sentence or nothing', async (address, notices) => {
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } })
    page.on('pageerror', error => troubles.push(error.message))
    await page.goto(full.url + address)
    await page.waitForSelector('.panel .body > *, .notice')
    expect(await page.locator('.notice').count()).toBe(notices)
    expect(await page.locator('main').textContent()).not.toMatch(/\n\s+at |undefined/)
    expect(await isTooWide(page)).toBe(false)
    await page.close()
    expect(troubles.splice(0)).toEqual([])
  })

  // Last, because it changes the marts.
  test('amounts in three currencies have a panel each, at both widths', async () => {
    await engine.run(
      `update mart.labour_spend_weekly set currency = case rowid % 3 when 0 then 'EUR' when 1 then 'GBP' else 'USD' end`,
    )
    const mixed = await serveDashboard(engine)
    try {
      for (const width of [1280, 390]) {
        const page = await opened(`${mixed.url}?page=cost`, { width })
        const titles = await page.locator('.panel h2').allTextContents()
        for (const currency of ['EUR', 'GBP', 'USD']) expect(titles).toContain(`By agency, ${currency}`)
        expect(titles).not.toContain('By agency')
        expect(await page.locator('.notice').count()).toBe(0)
        expect(await isTooWide(page)).toBe(false)
        expect(await seriousFindings(page)).toEqual([])
        expect(await page.locator('#cost-by-agency-gbp svg').textContent()).toContain('£')
        expect(await page.locator('#cost-by-agency-eur svg').textContent()).toContain('€')
        await page.locator('#cost-by-agency-gbp').getByRole('button', { name: 'Rows' }).click()
        await page.waitForSelector('dialog table tbody tr')
        expect(await page.locator('dialog pre').textContent()).toContain(`"currency" = 'GBP'`)
        await page.close()
      }
    } finally {
      await mixed.close()
    }
    expect(troubles.splice(0)).toEqual([])
  })
})
