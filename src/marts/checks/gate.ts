/** All checks, and those that a rebuilt mart must pass before readers see it. */
import type { Mart } from '../mart.ts'
import type { Finding, Gate } from '../rebuild.ts'
import { type Check, writtenChecks } from './check.ts'
import { currencyCheck } from './currencies.ts'
import { derivedChecks } from './derived.ts'
import { listChecks } from './list-rows.ts'
import { piiScans } from './pii-scan.ts'
import { failedRows, runCheck } from './run.ts'

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
export function martGate(checks: readonly Check[]): Gate {
  return async (engine, { name }, moment) => {
    const own = checks
      .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.includes(`mart.${name}`)) }))
      .filter(({ parts }) => parts.length > 0)
    const findings: Finding[] = []
    for (const check of own) {
      const rows = failedRows(await runCheck(engine, check, moment))
      if (rows > 0) findings.push({ check: check.name, severity: check.severity, rows })
    }
    return findings
  }
}
