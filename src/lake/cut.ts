/**
 * Cuts the rows of a table into files by ranges of an id. Ids begin with the second of their creation, so a range of ids is a
 * range of time, and what changes is mostly in the last one.
 */
import { firstOfMonth } from '../lib/dates.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import type { LakeColumn } from './columns.ts'

/** Rows from `from` up to `until`, which is of the next part; undefined is without a bound. */
export interface Part {
  readonly from: string | undefined
  readonly until: string | undefined
}

/** Some 30 MB of a wide fact: with larger files a change of a few rows would rewrite more than 5% of ten million. */
export const rowsPerFile = 250_000

/** The column whose ranges cut a table: the first id. A dimension is one file. */
export function cutColumn(table: string, columns: readonly LakeColumn[]): string | undefined {
  if (/\bdim_/.test(table)) return undefined
  return columns.find(({ name, type }) => type === 'string' && /(^|_)id$/.test(name))?.name
}

export const partsOf = (bounds: readonly string[]): Part[] =>
  [undefined, ...bounds].map((from, index) => ({ from, until: bounds[index] }))

export function conditionOf({ from, until }: Part, column: string | undefined): string {
  if (column === undefined) return 'true'
  const id = quoteName(column)
  const lower = from === undefined ? undefined : `${id} >= ${quoteText(from)}`
  const upper = until === undefined ? undefined : `${id} < ${quoteText(until)}`
  const both = [lower, upper].filter(one => one !== undefined).join(' and ')
  // Rows without an id belong to the first part.
  return from === undefined && both !== '' ? `(${both} or ${id} is null)` : both || 'true'
}

/** SQL for the number of a row's part; a tree of comparisons, as a chain would take longer for each part. */
export function partNumber(bounds: readonly string[], column: string | undefined, first = 0): string {
  if (column === undefined || bounds.length === 0) return String(first)
  const middle = Math.floor(bounds.length / 2)
  const before = partNumber(bounds.slice(0, middle), column, first)
  const after = partNumber(bounds.slice(middle + 1), column, first + middle + 1)
  return `case when ${quoteName(column)} >= ${quoteText(bounds[middle] ?? '')} then ${after} else ${before} end`
}

/** Characters of an id that are counted together: 256 seconds of creation. */
const prefixLength = 6

/** Groups of neighbouring ids in a part, each of at most a sixteenth of a file unless they share a prefix. */
export const stepsSql = (
  rows: string,
  { part, column, max }: { part: Part; column: string; max: number },
): string => `
  with counted as (
    select substr(${quoteName(column)}, 1, ${prefixLength}) as start, count(*) as n
    from (${rows}) where ${conditionOf(part, column)} group by 1
  ), running as (select start, n, sum(n) over (order by start nulls first) - n as earlier from counted)
  select min(start) as start, cast(sum(n) as bigint) as rows from running
  group by earlier // ${Math.max(1, Math.floor(max / 16))} order by 1 nulls first`

export interface Step {
  readonly start: string | null
  readonly rows: number
}

/** The id of the first record of a month; undefined if the text does not begin as an id does. */
function startOfMonth(id: string): string | undefined {
  if (!/^[0-9a-f]+$/.test(id)) return undefined
  const seconds = Number.parseInt(id.padEnd(8, '0').slice(0, 8), 16)
  return (Date.parse(firstOfMonth(seconds * 1000)) / 1000).toString(16).padStart(8, '0')
}

/** Bounds of parts of at most `max` rows, at the beginning of a month where one is after `from`. */
export function boundsBetween(steps: readonly Step[], max: number, from = ''): string[] {
  const bounds: string[] = []
  let [rows, sinceMonth, month] = [0, 0, '']
  let last = from
  for (const step of steps) {
    const start = step.start ?? ''
    const thisMonth = startOfMonth(start) ?? ''
    if (thisMonth !== month) [month, sinceMonth] = [thisMonth, 0]
    if (rows > 0 && rows + step.rows > max) {
      const isAtMonth = month > last && sinceMonth < rows
      last = isAtMonth ? month : start
      rows = isAtMonth ? sinceMonth : 0
      bounds.push(last)
    }
    rows += step.rows
    sinceMonth += step.rows
  }
  return bounds.filter(bound => bound !== '')
}
