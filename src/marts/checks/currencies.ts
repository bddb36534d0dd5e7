/** A check of every mart with amounts: each row names the one currency of its company, so that a sum by currency is right. */
import { currencyJoin, currencyTable } from '../../state/marts/currencies.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { hasCurrency } from '../columns.ts'
import type { Mart } from '../mart.ts'
import type { Check, Part } from './check.ts'

function otherCurrencies(mart: Mart): Part {
  const table = `mart.${mart.name}`
  return {
    subject: table,
    reads: [table, currencyTable],
    select: `select distinct coalesce(m.company_id, 'no company') || ', ' || coalesce(m.currency, 'no currency') as record
       from mart.${quoteName(mart.name)} as m
       ${currencyJoin('c', 'm.company_id')}
       where m.currency is distinct from coalesce(c.currency, 'unknown')`,
  }
}

export const currencyCheck = (marts: readonly Mart[]): Check => ({
  name: 'mart_currencies',
  severity: 'error',
  summary: 'Every row of a mart with amounts names the currency of its company.',
  next: "run muster build --all; yesterday's rows stay until the check passes",
  parts: marts.filter(hasCurrency).map(otherCurrencies),
})
