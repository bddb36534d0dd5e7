/** Runs checks: the number of rows that each statement returns, and a sample of them. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { fillTokens, type Moment } from '../inputs.ts'
import type { Check, Part, Severity } from './check.ts'

/** A moment with the time: the age of the data is measured from now. */
export interface CheckMoment extends Moment {
  /** ISO 8601. */
  readonly now: string
}

/** Rows that one statement of a check returned. */
export interface Failure {
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
  readonly failures: readonly Failure[]
}

const mostSamples = 5

/** Most tables in one statement: each join of DuckDB takes megabytes, even for a few rows. */
const mostTables = 20

const nowToken = /(?<!:):now\b/g

function filled(engine: Engine, { select, precondition }: Part, moment: CheckMoment): string {
  const text = fillTokens(select, moment).replace(nowToken, () => `cast('${moment.now}' as timestamptz)`)
  return engine.hasSlowPatterns && precondition !== undefined
    ? `select possible.* from (\n${text}\n) as possible where ${precondition}`
    : text
}

/** Indexes of the parts that run as one statement: most of the hundred parts are small. */
function together(parts: readonly Part[]): number[][] {
  const groups: number[][] = []
  let tables = mostTables
  for (const [index, { reads }] of parts.entries()) {
    tables += reads.length
    if (tables > mostTables) {
      groups.push([])
      tables = reads.length
    }
    groups.at(-1)?.push(index)
  }
  return groups
}

interface Counted {
  readonly part: Part
  readonly subject: string
  readonly rows: number
}

/** Only parts and tables with rows. */
async function countRows(
  engine: Engine,
  parts: readonly Part[],
  moment: CheckMoment,
): Promise<readonly Counted[]> {
  const counted: Counted[] = []
  for (const indexes of together(parts)) {
    const selects = indexes.map(index => {
      const part = parts[index] as Part
      const subject = part.subject === null ? 'found.subject' : `cast(${quoteText(part.subject)} as text)`
      return `select ${index} as part, ${subject} as subject, count(*) as n from (\n${filled(engine, part, moment)}\n) as found group by 2`
    })
    const rows = await engine.rows<{ part: number; subject: string; n: number }>(
      selects.join('\nunion all\n'),
    )
    for (const { part, subject, n } of rows)
      counted.push({ part: parts[Number(part)] as Part, subject, rows: Number(n) })
  }
  return counted
}

async function samplesOf(
  engine: Engine,
  { part, subject }: Counted,
  moment: CheckMoment,
): Promise<readonly string[]> {
  const own = part.subject === null ? `where found.subject = ${quoteText(subject)}` : ''
  const rows = await engine.rows(
    `select found.* from (\n${filled(engine, part, moment)}\n) as found ${own} order by 1 limit ${mostSamples}`,
  )
  return rows.map(row => String(Object.values(row)[0]))
}

/** Throws MusterError when a statement cannot run: a check that did not run has not passed. */
export async function runCheck(engine: Engine, check: Check, moment: CheckMoment): Promise<CheckResult> {
  try {
    return await failuresOf(engine, check, moment)
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

async function failuresOf(engine: Engine, check: Check, moment: CheckMoment): Promise<CheckResult> {
  const { name, severity, summary, next, parts } = check
  const failures: Failure[] = []
  for (const counted of await countRows(engine, parts, moment)) {
    const { subject, rows } = counted
    failures.push({ subject, rows, samples: await samplesOf(engine, counted, moment) })
  }
  failures.sort((one, other) => (one.subject < other.subject ? -1 : 1))
  return { name, severity, summary, next, parts: parts.length, failures }
}

/** Without the parts that read a mart which was never built. */
export function withTables(checks: readonly Check[], marts: ReadonlySet<string>): Check[] {
  const isThere = (table: string): boolean =>
    !table.startsWith('mart.') || marts.has(table.slice('mart.'.length))
  return checks
    .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.every(isThere)) }))
    .filter(({ parts }) => parts.length > 0)
}

export const failedRows = ({ failures }: CheckResult): number =>
  failures.reduce((sum, { rows }) => sum + rows, 0)
