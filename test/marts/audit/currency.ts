/** The currency of each amount is that of its company's country, in every mart that has amounts. */
import { hasCurrency } from '../../../src/marts/columns.ts'
import type { Mart } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import type { Service } from './audited.ts'

/** Of the countries in which the odd world has companies. */
const currencyOf: Readonly<Record<string, string>> = {
  'United Kingdom': 'GBP',
  Ireland: 'EUR',
  'United States': 'USD',
}

/** Lines such as `mart.x [company] currency: expected EUR, is GBP`. */
export async function wrongCurrencies(engine: Engine, mart: Mart, { live }: Service): Promise<string[]> {
  if (!hasCurrency(mart)) return []
  const expected = new Map(live.companies.map(({ id, address }) => [id, currencyOf[address.country]]))
  const rows = await engine.rows<{ company_id: string; currency: string }>(
    `select distinct company_id, currency from mart.${mart.name}`,
  )
  return rows.flatMap(({ company_id: id, currency }) => {
    const mine = id === '-1' ? 'unknown' : expected.get(id)
    return mine === currency ? [] : [`mart.${mart.name} [${id}] currency: expected ${mine}, is ${currency}`]
  })
}
