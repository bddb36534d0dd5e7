/** Runs checks: how many rows each statement returns, and which, for a few of them. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { fillTokens, type Moment } from '../tokens.ts'
import type { Check, Part, Severity } from './check.ts'

/** A moment with its clock: ages of what was read are told from now. */
export interface CheckMoment extends Moment {
  /** ISO 8601. */
  readonly now: string
}

/** Rows that one statement of a check returned. */
export interface Failure {
  /** The table, with its schema. */
  readonly subject: string
  readonly rows: number
  /** What the first column of a few of them says. */
  readonly samples: readonly string[]
}

export interface CheckResult {
  readonly name: string
  readonly severity: Severity
  readonly summary: string
  readonly next: string
  /** Statements that ran. */
  readonly parts: number
  readonly failures: readonly Failure[]
}

const mostSamples = 5

/** Tables in one statement: each join of DuckDB takes megabytes, also for a few rows. */
const mostTables = 20

const nowToken = /(?<!:):now\b/g

function filled({ select }: Part, moment: CheckMoment): string {
  return fillTokens(select, moment).replace(nowToken, `cast('${moment.now}' as timestamptz)`)
}

/** Places of parts that are asked in one statement, since most parts are small and there are a hundred of them. */
function together(parts: readonly Part[]): number[][] {
  const groups: number[][] = []
  let tables = mostTables
  for (const [place, { reads }] of parts.entries()) {
    tables += reads.length
    if (tables > mostTables) {
      groups.push([])
      tables = reads.length
    }
    groups.at(-1)?.push(place)
  }
  return groups
}

interface Counted {
  readonly part: Part
  readonly subject: string
  readonly rows: number
}

/** Of parts and tables that return rows. */
async function countRows(
  engine: Engine,
  parts: readonly Part[],
  moment: CheckMoment,
): Promise<readonly Counted[]> {
  const counted: Counted[] = []
  for (const places of together(parts)) {
    const selects = places.map(place => {
      const part = parts[place] as Part
      const subject = part.subject === null ? 'found.subject' : `cast(${quoteText(part.subject)} as text)`
      return `select ${place} as place, ${subject} as subject, count(*) as n from (\n${filled(part, moment)}\n) as found group by 2`
    })
    const rows = await engine.rows<{ place: number; subject: string; n: number }>(
      selects.join('\nunion all\n'),
    )
    for (const { place, subject, n } of rows)
      counted.push({ part: parts[Number(place)] as Part, subject, rows: Number(n) })
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
    `select found.* from (\n${filled(part, moment)}\n) as found ${own} order by 1 limit ${mostSamples}`,
  )
  return rows.map(row => String(Object.values(row)[0]))
}

/** Throws MusterError when a statement cannot run: what was not asked is no pass. */
export async function runCheck(engine: Engine, check: Check, moment: CheckMoment): Promise<CheckResult> {
  try {
    return await ask(engine, check, moment)
  } catch (error) {
    const [said] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new MusterError({
      what: `the check ${check.name} could not run: ${said}`,
      where: engine.location,
      next: 'run muster sync with this version first, which brings the tables up to date; else report it',
      cause: error,
    })
  }
}

async function ask(engine: Engine, check: Check, moment: CheckMoment): Promise<CheckResult> {
  const { name, severity, summary, next, parts } = check
  const failures: Failure[] = []
  for (const counted of await countRows(engine, parts, moment)) {
    const { subject, rows } = counted
    failures.push({ subject, rows, samples: await samplesOf(engine, counted, moment) })
  }
  failures.sort((one, other) => (one.subject < other.subject ? -1 : 1))
  return { name, severity, summary, next, parts: parts.length, failures }
}

/** Only what can be asked: a mart that was never built is no fault of its checks. */
export function withTables(checks: readonly Check[], marts: ReadonlySet<string>): Check[] {
  const isThere = (table: string): boolean =>
    !table.startsWith('mart.') || marts.has(table.slice('mart.'.length))
  return checks
    .map(check => ({ ...check, parts: check.parts.filter(({ reads }) => reads.every(isThere)) }))
    .filter(({ parts }) => parts.length > 0)
}

export const failedRows = ({ failures }: CheckResult): number =>
  failures.reduce((sum, { rows }) => sum + rows, 0)
