/** Runs checks: counts the rows that each statement returns, takes samples of them, and records the results. */
import type { Clock } from '../../lib/clock.ts'
import { firstLineOf, MusterError } from '../../lib/errors.ts'
import type { Rng } from '../../lib/rng.ts'
import { recordCheckResults } from '../../state/marts/marts.ts'
import type { CheckResultRow } from '../../state/marts/tables.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId, startRun, type Tolerance, updateRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { fillTokens, type ReportingTime, readReportingTime } from '../inputs.ts'
import { martTables } from '../table.ts'
import type { Check, CheckPart, Severity } from './check.ts'

/** Reporting time with the clock time, from which the age of the data is measured. */
export interface CheckTime extends ReportingTime {
  /** ISO 8601. */
  readonly now: string
}

/** Rows that one statement of a check returned. */
interface CheckFailure {
  /** The table, with its schema. */
  readonly subject: string
  readonly rows: number
  /** The first column of a few of them. */
  readonly samples: readonly string[]
}

export interface CheckResult {
  readonly name: string
  readonly severity: Severity
  readonly summary: string
  readonly next: string
  /** Number of statements that ran. */
  readonly parts: number
  readonly failures: readonly CheckFailure[]
}

const maxSamples = 5

/** Max tables in one statement: each join of DuckDB takes megabytes, even for a few rows. */
const maxTables = 20

const nowToken = /(?<!:):now\b/g

function filled(engine: Engine, { select, precondition }: CheckPart, time: CheckTime): string {
  const text = fillTokens(select, time).replace(nowToken, () => `cast('${time.now}' as timestamptz)`)
  return engine.hasSlowPatterns && precondition !== undefined
    ? `select possible.* from (\n${text}\n) as possible where ${precondition}`
    : text
}

/** Groups the indexes of parts that run as one statement, as most of the hundred parts are small. */
function together(parts: readonly CheckPart[]): number[][] {
  const groups: number[][] = []
  let tables = maxTables
  for (const [index, { reads }] of parts.entries()) {
    tables += reads.length
    if (tables > maxTables) {
      groups.push([])
      tables = reads.length
    }
    groups.at(-1)?.push(index)
  }
  return groups
}

interface CountedPart {
  readonly part: CheckPart
  readonly subject: string
  readonly rows: number
}

/** Counts rows by part and table; leaves out those without rows. */
async function countRows(
  engine: Engine,
  parts: readonly CheckPart[],
  time: CheckTime,
): Promise<readonly CountedPart[]> {
  const counted: CountedPart[] = []
  for (const indexes of together(parts)) {
    const selects = indexes.map(index => {
      const part = parts[index] as CheckPart
      const subject = part.subject === null ? 'found.subject' : `cast(${quoteText(part.subject)} as text)`
      return `select ${index} as part, ${subject} as subject, count(*) as n from (\n${filled(engine, part, time)}\n) as found group by 2`
    })
    const rows = await engine.rows<{ part: number; subject: string; n: number }>(
      selects.join('\nunion all\n'),
    )
    for (const { part, subject, n } of rows)
      counted.push({ part: parts[Number(part)] as CheckPart, subject, rows: Number(n) })
  }
  return counted
}

async function samplesOf(
  engine: Engine,
  { part, subject }: CountedPart,
  time: CheckTime,
): Promise<readonly string[]> {
  const own = part.subject === null ? `where found.subject = ${quoteText(subject)}` : ''
  const rows = await engine.rows(
    `select found.* from (\n${filled(engine, part, time)}\n) as found ${own} order by 1 limit ${maxSamples}`,
  )
  return rows.map(row => String(Object.values(row)[0]))
}

/** Throws MusterError when a statement cannot run: a check that did not run has not passed. */
export async function runCheck(engine: Engine, check: Check, time: CheckTime): Promise<CheckResult> {
  try {
    return await failuresOf(engine, check, time)
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new MusterError({
      what: `the check ${check.name} could not run: ${message}`,
      where: engine.location,
      next: 'run muster sync with this version first, which brings the tables up to date; else report it',
      cause: error,
    })
  }
}

async function failuresOf(engine: Engine, check: Check, time: CheckTime): Promise<CheckResult> {
  const { name, severity, summary, next, parts } = check
  const failures: CheckFailure[] = []
  for (const counted of await countRows(engine, parts, time)) {
    const { subject, rows } = counted
    failures.push({ subject, rows, samples: await samplesOf(engine, counted, time) })
  }
  failures.sort((one, other) => (one.subject < other.subject ? -1 : 1))
  return { name, severity, summary, next, parts: parts.length, failures }
}

/** Leaves out the parts that read a mart which was never built. */
export function withTables(checks: readonly Check[], marts: ReadonlySet<string>): Check[] {
  const isThere = (table: string): boolean =>
    !table.startsWith('mart.') || marts.has(table.slice('mart.'.length))
  return checks
    .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.every(isThere)) }))
    .filter(({ parts }) => parts.length > 0)
}

export const failedRows = ({ failures }: CheckResult): number =>
  failures.reduce((sum, { rows }) => sum + rows, 0)

interface CheckEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  /** Arguments of the command, for its row in `runs`. */
  readonly given: string
  readonly version: string
  /** Tolerated number of records in quarantine. */
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

async function readCheckTime(engine: Engine, clock: Clock): Promise<CheckTime> {
  const now = clock.now()
  return { ...(await readReportingTime(engine, now)), now: new Date(now).toISOString() }
}

const summaryOf = (results: readonly CheckResult[]): string => {
  const failing = results.filter(result => failedRows(result) > 0)
  return failing.length === 0 ? 'all pass' : `failing: ${failing.map(({ name }) => name).join(', ')}`
}

/** Runs the checks one after the other and records the results; an abort throws, and nothing is recorded. */
export async function reportChecks(effects: CheckEffects, checks: readonly Check[]): Promise<CheckReport> {
  const { engine, clock, rng, signal, given, version, tolerance } = effects
  const started = clock.now()
  const startedAt = new Date(started).toISOString()
  await migrate(engine, startedAt)
  const runId = newRunId(clock, rng)
  await startRun(engine, { runId, command: 'check', arguments: given, startedAt, version, tolerance })
  const end = (state: 'done' | 'failed', message: string): Promise<void> =>
    updateRun(engine, runId, { state, message, finished_at: new Date(clock.now()).toISOString() })
  try {
    const time = await readCheckTime(engine, clock)
    const possible = withTables(checks, await martTables(engine))
    const results: CheckResult[] = []
    for (const check of possible) {
      signal.throwIfAborted()
      results.push(await runCheck(engine, check, time))
    }
    for (const other of effects.others ?? []) results.push(await other())
    signal.throwIfAborted()
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
