/** The checks that a rebuilt mart has to pass before anybody sees it. */
import type { Clock } from '../../lib/clock.ts'
import type { Finding, Gate } from '../gate.ts'
import type { Check } from './check.ts'
import { checkMoment } from './report.ts'
import { failedRows, runCheck } from './run.ts'

/** Runs the statements that read the mart; each of them reads no other one. */
export function martGate(checks: readonly Check[], clock: Clock): Gate {
  return async (engine, { name }) => {
    const own = checks
      .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.includes(`mart.${name}`)) }))
      .filter(({ parts }) => parts.length > 0)
    const moment = await checkMoment(engine, clock)
    const findings: Finding[] = []
    for (const check of own) {
      const rows = failedRows(await runCheck(engine, check, moment))
      if (rows > 0) findings.push({ check: check.name, severity: check.severity, rows })
    }
    return findings
  }
}
