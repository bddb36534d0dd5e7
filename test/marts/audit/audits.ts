/**
 * One audit for each mart: what its header says, computed again without its SQL. Each file of `marts/` exports its audits, and
 * may export `planted`: errors for the checks that read the mart.
 */
import { readdirSync } from 'node:fs'
import type { Planted } from '../planting.ts'
import type { Audit } from './compare.ts'

/** A file may export more than its audits, for another file. */
type AuditFile = Readonly<Record<string, unknown>> & { readonly planted?: readonly Planted[] }

const isAudit = (exported: unknown): exported is Audit =>
  typeof exported === 'object' && exported !== null && 'mart' in exported

const folder = new URL('./marts/', import.meta.url)

const files: readonly AuditFile[] = await Promise.all(
  readdirSync(folder)
    .sort()
    .map(name => import(new URL(name, folder).href)),
)

export const audits: readonly Audit[] = files.flatMap(file => Object.values(file)).filter(isAudit)

export const plantedByAudits: readonly Planted[] = files.flatMap(({ planted = [] }) => planted)

/** Marts that the records of the service do not decide, and what tries them instead. */
export const notAudited: Readonly<Record<string, string>> = {
  crosscheck: 'shows the last comparison with the metrics of the service: test/crosscheck',
  data_health: 'tells of runs and readings: test/marts/spend-by-hand.test.ts',
  dim_date: 'is the calendar: test/marts/stand-alone.runs.test.ts',
  alert: 'tells how the alerts of the settings stand: test/app/notify/alerts.runs.test.ts',
  request_budget: 'tells what the service last said of each key: test/marts/stand-alone.runs.test.ts',
  status_change_daily:
    'counts states that readings saw one after the other: test/marts/status-changes.test.ts',
}
