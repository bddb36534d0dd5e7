/** Runs checks: how many rows each statement returns, and which, for a few of them. */
import type { Engine } from '../../warehouse/engine.ts'
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

/** By the place of the part. */
async function countRows(
  engine: Engine,
  parts: readonly Part[],
  moment: CheckMoment,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>()
  for (const places of together(parts)) {
    const counted = places.map(
      place =>
        `select ${place} as place, count(*) as n from (\n${filled(parts[place] as Part, moment)}\n) as found`,
    )
    for (const { place, n } of await engine.rows<{ place: number; n: number }>(counted.join('\nunion all\n')))
      counts.set(Number(place), Number(n))
  }
  return counts
}

async function samplesOf(engine: Engine, part: Part, moment: CheckMoment): Promise<string[]> {
  const rows = await engine.rows(
    `select found.* from (\n${filled(part, moment)}\n) as found order by 1 limit ${mostSamples}`,
  )
  return rows.map(row => String(Object.values(row)[0]))
}

/** Of a statement that cannot run, the error names the check. */
export async function runCheck(engine: Engine, check: Check, moment: CheckMoment): Promise<CheckResult> {
  const { name, severity, summary, next, parts } = check
  const counts = await countRows(engine, parts, moment)
  const failures: Failure[] = []
  for (const [place, part] of parts.entries()) {
    const rows = counts.get(place) ?? 0
    if (rows > 0)
      failures.push({ subject: part.subject, rows, samples: await samplesOf(engine, part, moment) })
  }
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
