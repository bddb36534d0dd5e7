/** Runs checks and records their results in the ledger. */
import type { Clock } from '../../lib/clock.ts'
import { firstLineOf } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import { recordCheckResults } from '../../state/marts/marts.ts'
import type { CheckResultRow } from '../../state/marts/tables.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId, startRun, type Tolerance, updateRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { momentAt } from '../inputs.ts'
import { martTables } from '../table.ts'
import type { Check } from './check.ts'
import { type CheckMoment, type CheckResult, failedRows, runCheck, withTables } from './run.ts'

export interface CheckEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  readonly version: string
  /** What may be in quarantine. */
  readonly tolerance?: Tolerance
  /** Checks that read no table, to be run after the others. */
  readonly others?: readonly (() => Promise<CheckResult>)[]
}

export interface CheckReport {
  readonly runId: string
  readonly results: readonly CheckResult[]
  /** Names of checks that read only marts which were never built. */
  readonly skipped: readonly string[]
  readonly milliseconds: number
}

/** One row for each failing table, or one row without a table when the check passes. */
function ledgerRows(runId: string, result: CheckResult, at: string): CheckResultRow[] {
  const { name, severity, failures } = result
  const row = { run_id: runId, check_name: name, severity, checked_at: at }
  if (failures.length === 0) return [{ ...row, subject: '', failed_rows: 0, sample_keys: '' }]
  return failures.map(({ subject, rows, samples }) => ({
    ...row,
    subject,
    failed_rows: rows,
    sample_keys: samples.join('; '),
  }))
}

async function checkMoment(engine: Engine, clock: Clock): Promise<CheckMoment> {
  const now = clock.now()
  return { ...(await momentAt(engine, now)), now: new Date(now).toISOString() }
}

const summaryOf = (results: readonly CheckResult[]): string => {
  const failing = results.filter(result => failedRows(result) > 0)
  return failing.length === 0 ? 'all pass' : `failing: ${failing.map(({ name }) => name).join(', ')}`
}

/** Runs the checks one after the other and records the results; an abort throws, and nothing is recorded. */
export async function reportChecks(effects: CheckEffects, checks: readonly Check[]): Promise<CheckReport> {
  const { engine, clock, rng, signal, version, tolerance } = effects
  const started = clock.now()
  const startedAt = new Date(started).toISOString()
  await migrate(engine, startedAt)
  const runId = newRunId(clock, rng)
  const names = checks.map(({ name }) => name).join(' ')
  await startRun(engine, { runId, command: 'check', arguments: names, startedAt, version, tolerance })
  const end = (state: 'done' | 'failed', message: string): Promise<void> =>
    updateRun(engine, runId, { state, message, finished_at: new Date(clock.now()).toISOString() })
  try {
    const moment = await checkMoment(engine, clock)
    const possible = withTables(checks, await martTables(engine))
    const results: CheckResult[] = []
    for (const check of possible) {
      signal.throwIfAborted()
      results.push(await runCheck(engine, check, moment))
    }
    for (const other of effects.others ?? []) results.push(await other())
    const at = new Date(clock.now()).toISOString()
    await engine.transaction(async engine => {
      await recordCheckResults(
        engine,
        results.flatMap(result => ledgerRows(runId, result, at)),
      )
    })
    await end('done', summaryOf(results))
    const known = new Set(possible.map(({ name }) => name))
    const skipped = checks.flatMap(({ name }) => (known.has(name) ? [] : [name]))
    return { runId, results, skipped, milliseconds: Math.round(clock.now() - started) }
  } catch (error) {
    await end('failed', firstLineOf(error))
    throw error
  }
}
