/** Collects all checks, including that of currencies, and runs those that a rebuilt mart must pass before readers see it. */
import { currencyJoin, currencyTable } from '../../state/marts/currencies.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { hasCurrency } from '../columns.ts'
import type { Mart } from '../mart.ts'
import type { CheckFinding, MartGate } from '../rebuild.ts'
import { type Check, type CheckPart, writtenChecks } from './check.ts'
import { derivedChecks } from './derived.ts'
import { listChecks } from './list-rows.ts'
import { piiScans } from './pii-scan.ts'
import { failedRows, runCheck } from './run.ts'

function otherCurrencies(mart: Mart): CheckPart {
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

/** Checks every mart with amounts: each row has its company's only currency, so that a sum by currency is right. */
const currencyCheck = (marts: readonly Mart[]): Check => ({
  name: 'mart_currencies',
  severity: 'error',
  summary: 'Every row of a mart with amounts names the currency of its company.',
  next: 'run muster build --all; the previous rows stay until the check passes',
  parts: marts.filter(hasCurrency).map(otherCurrencies),
})

/** In order of name; the PII scan searches the texts of `marts`. */
export function everyCheck(marts: readonly Mart[]): Check[] {
  const checks = [
    ...derivedChecks,
    ...listChecks,
    currencyCheck(marts),
    ...piiScans(marts),
    ...writtenChecks(),
  ]
  return checks.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Runs the statements of the checks that read the mart; each of them reads no other mart. */
export function martGate(checks: readonly Check[]): MartGate {
  return async (engine, { name }, time) => {
    const own = checks
      .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.includes(`mart.${name}`)) }))
      .filter(({ parts }) => parts.length > 0)
    const findings: CheckFinding[] = []
    for (const check of own) {
      const rows = failedRows(await runCheck(engine, check, time))
      if (rows > 0) findings.push({ check: check.name, severity: check.severity, rows })
    }
    return findings
  }
}
