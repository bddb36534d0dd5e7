/** Which rate cards fit an assignment, and which of them is closest: `sql/part/rate_card.sql`. */
import { beforeEach, expect, test } from 'vitest'
import { ledgerBench } from '../../support/ledger-bench.ts'
import { selecting } from './selecting.ts'

const bench = ledgerBench()

const place = { company_id: 'c', project_id: 'p', agency_id: 'a', region_id: 'r', sector_id: 's' }
const anywhere = { company_id: '-1', project_id: '-1', agency_id: '-1', region_id: '-1', sector_id: '-1' }
const rate = {
  trade_id: 't',
  hourly_paye_pay: 10,
  hourly_paye_charge: 15,
  is_inferred: false,
  is_deleted: false,
}

beforeEach(() =>
  bench.insert('star.fact_assignment', {
    ...{
      assignment_id: 'one',
      trade_id: 't',
      rate_type: 'paye',
      pay_type: 'hourly',
      is_deleted: false,
      ...place,
    },
  }),
)

const card = (id: string, parts: Readonly<Record<string, unknown>> = {}) =>
  bench.insert('star.dim_rate', { rate_id: id, ...rate, ...anywhere, ...parts })

const cards = (order = 'wider, rate_id'): Promise<unknown[]> =>
  bench.column(selecting(['rate_card'], `select rate_id from rate_card order by ${order}`))

test('cards come from the closest to the widest', async () => {
  const { project_id, agency_id, region_id, sector_id } = place
  const reaches = [
    ['both', { project_id, agency_id }],
    ['project', { project_id }],
    ['agency', { agency_id }],
    ['general', {}],
  ] as const
  const names = [
    ['region and sector', { region_id, sector_id }],
    ['region', { region_id }],
    ['nothing', {}],
  ] as const
  const all = reaches.flatMap(([reach, one]) =>
    names.map(([name, other]) => [`${reach}, ${name}`, { ...one, ...other }] as const),
  )
  for (const [id, parts] of [...all].reverse()) await card(id, parts)
  expect(await cards('wider, rate_id desc')).toEqual(all.map(([id]) => id))
})

test('a card that names the region and one that names the sector are as close', async () => {
  await card('region', { region_id: 'r' })
  await card('sector', { sector_id: 's' })
  const wider = await bench.column(selecting(['rate_card'], 'select distinct wider from rate_card'))
  expect(wider).toEqual([10])
})

test.each([
  ['both', { project_id: 'p', agency_id: 'a' }, 'project and agency'],
  ['project', { project_id: 'p' }, 'project'],
  ['agency', { agency_id: 'a' }, 'agency'],
  ['neither', {}, 'general'],
] as const)('a card that names %s has its reach', async (_, parts, reach) => {
  await card('one', parts)
  expect(await bench.column(selecting(['rate_card'], 'select reach from rate_card'))).toEqual([reach])
})

test.each([
  ...Object.keys(place).map(name => [name, { [name]: 'other' }] as const),
  ['trade_id', { trade_id: 'other' }] as const,
  ['engagement', { hourly_paye_pay: null, hourly_paye_charge: null, hourly_cis_pay: 10 }] as const,
  ['basis', { hourly_paye_pay: null, hourly_paye_charge: null, daily_paye_pay: 10 }] as const,
  ['is_deleted', { is_deleted: true }] as const,
])('a card with another %s does not fit', async (_, parts) => {
  await card('fits')
  await card('other', parts)
  expect(await cards()).toEqual(['fits'])
})

test('an assignment without a trade has no card', async () => {
  await bench.engine.run(`update star.fact_assignment set trade_id = '-1'`)
  await card('general', { trade_id: '-1' })
  expect(await cards()).toEqual([])
})
