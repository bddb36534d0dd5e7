/** Amounts of companies with different currencies never add up without a word: the currency stands beside the company. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { hasCurrency, isAmount, tableColumns } from '../../src/marts/columns.ts'
import { currencyOf } from '../../src/marts/currencies.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { put, useHandMade } from './hand-made.ts'

const made = useHandMade()

test('every mart with amounts names the currency of each row', () => {
  const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)
  const withAmounts = marts.filter(({ columns }) =>
    columns.some(({ name, type }) => type.startsWith('numeric') && isAmount(name)),
  )
  expect(withAmounts.length).toBeGreaterThan(15)
  expect(withAmounts.filter(mart => !hasCurrency(mart)).map(({ name }) => name)).toEqual([])
  for (const mart of withAmounts) expect(tableColumns(mart).map(({ name }) => name)).toContain('currency')
})

test.each([
  ['United Kingdom', 'GBP'],
  ['england', 'GBP'],
  ['GB', 'GBP'],
  ['ie', 'EUR'],
  [' Ireland ', 'EUR'],
  ['United States', 'USD'],
  ['New Zealand', 'NZD'],
  ['Deutschland', 'EUR'],
  ['Nowhere', undefined],
  ['', undefined],
  [null, undefined],
])('the currency of %j is %s', (country, currency) => {
  expect(currencyOf(country)).toBe(currency)
})

const build = async (names: readonly string[], money: object, minute: number) => {
  const { marts } = await buildMarts(
    {
      engine: made(),
      clock: {
        now: () => Date.parse('2026-11-02T09:00:00Z') + minute * 60_000,
        sleep: async () => undefined,
      },
      rng: seededRng(minute + 77),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names, all: false, ...money },
  )
  return marts.map(({ state }) => state)
}

const spendByCurrency = () =>
  made().rows(
    `select currency, cast(sum(charge_value) as text) as charge from mart.labour_spend_weekly group by currency order by 1`,
  )

test('settings come before the country of the address, and marts follow when a currency changes', async () => {
  const company = (id: string, country: string | null) => ({
    company_id: id,
    name: id,
    country,
    is_inferred: false,
  })
  await put(made(), 'dim_company', [
    company('uk', 'United Kingdom'),
    company('ie', 'Ireland'),
    company('us', 'Ireland'),
    company('none', null),
  ])
  const work = {
    status: 'approved',
    week_ending_date: '2026-10-25',
    net_hours: 1,
    project_id: 'p',
    site_id: 's',
  }
  await put(
    made(),
    'fact_timesheet',
    ['uk', 'ie', 'us', 'none'].map((id, place) => ({
      ...{
        ...work,
        timesheet_id: id,
        company_id: id,
        agency_id: 'a',
        worker_id: 'w',
        charge_total: 10 ** place,
      },
    })),
  )
  const names = ['labour_spend_weekly']
  expect(await build(names, { currencies: { us: 'USD' } }, 1)).toEqual(['built'])
  expect(await spendByCurrency()).toEqual([
    { currency: 'EUR', charge: '10.0000' },
    { currency: 'GBP', charge: '1.0000' },
    { currency: 'USD', charge: '100.0000' },
    { currency: 'unknown', charge: '1000.0000' },
  ])
  expect(await build(names, { currencies: { us: 'USD' } }, 2)).toEqual(['unchanged'])
  expect(await build(names, { currencies: { us: 'USD' }, currency: 'GBP' }, 3)).toEqual(['built'])
  expect(await spendByCurrency()).toEqual([
    { currency: 'EUR', charge: '10.0000' },
    { currency: 'GBP', charge: '1001.0000' },
    { currency: 'USD', charge: '100.0000' },
  ])
})
