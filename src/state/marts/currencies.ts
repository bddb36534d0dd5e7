/** Stores the currency of each company, as the last build settled it. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { CompanyCurrencyRow } from './tables.ts'

/** With its schema. */
export const currencyTable = 'ops.company_currency'

/** `company` is SQL for a company's id; `currency` of the join is null while none is settled. */
export const currencyJoin = (alias: string, company: string): string =>
  `left join ${currencyTable} as ${alias} on ${alias}.company_id = ${company}`

export type SettledCurrency = Omit<CompanyCurrencyRow, 'settled_at'>

/** Country of each live company's address, by company id; null without one. */
export async function companyCountries(engine: Engine): Promise<ReadonlyMap<string, string | null>> {
  const rows = await engine.rows<{ id: string; country: string | null }>(
    `select company_id as id, country from star.dim_company where company_id <> '-1'`,
  )
  return new Map(rows.map(({ id, country }) => [id, country]))
}

const keyOf = ({ company_id, currency, basis }: SettledCurrency): string =>
  `${company_id} ${currency} ${basis}`

/** Leaves equal rows alone, so that marts are rebuilt only when a currency changes. */
export async function replaceCurrencies(
  engine: Engine,
  rows: readonly SettledCurrency[],
  at: string,
): Promise<void> {
  const before = await ledger(engine).selectFrom('ops.company_currency').selectAll().execute()
  const known = new Set(before.map(keyOf))
  const wanted = new Set(rows.map(row => row.company_id))
  const changed = rows.filter(row => !known.has(keyOf(row)))
  const gone = before.filter(({ company_id }) => !wanted.has(company_id))
  if (changed.length + gone.length === 0) return
  await engine.transaction(async engine => {
    for (const { company_id } of [...changed, ...gone])
      await ledger(engine).deleteFrom('ops.company_currency').where('company_id', '=', company_id).execute()
    for (const row of changed)
      await ledger(engine)
        .insertInto('ops.company_currency')
        .values({ ...row, settled_at: at })
        .execute()
  })
}
