/** The rows of a mart beside those that its audit expects: each difference by mart, row and column. */
import type { Mart, MartColumn } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { quoteNames } from '../../../src/warehouse/sql-text.ts'
import type { Service } from './audited.ts'
import type { Raw } from './odd-world.ts'

export type Cell = string | number | boolean | null
/** A value for every column of the header, but for those that the audit does not name. */
export type Expected = Readonly<Record<string, Cell>>

export interface Audit {
  readonly mart: string
  /**
   * Columns without a meaning of their own, such as the text of a key: they have to be there and the key unique. Rows are
   * then told apart by the `by` columns.
   */
  readonly opaque?: readonly string[]
  readonly by?: readonly string[]
  /** Several rows of one key are alternatives, where the words leave a choice between equals. */
  readonly rows: (service: Service) => readonly Expected[]
}

export const rowsOf = (engine: Engine, { name, columns }: Mart): Promise<Raw[]> =>
  engine.rows(`select ${quoteNames(columns.map(column => column.name))} from mart.${name}`)

const isNumber = ({ type }: MartColumn): boolean => /numeric|double|integer|bigint/.test(type)

/** To the last digit that a numeric column keeps, which a sum of shares may round either way; doubles to eight decimals. */
function isEqual(column: MartColumn, mine: Cell, theirs: Raw): boolean {
  if (mine === null || theirs === null) return mine === theirs
  if (column.type === 'timestamptz') return Date.parse(String(mine)) === Date.parse(theirs)
  if (column.type === 'date') return String(mine) === String(theirs).slice(0, 10)
  if (!isNumber(column)) return mine === theirs
  const scale = Number(/numeric\(\d+, ?(\d+)\)/.exec(column.type)?.[1] ?? 8)
  const [left, right] = [Number(mine), Number(theirs)]
  return Math.abs(left - right) <= 1.01 * 10 ** -scale + 1e-9 * Math.abs(left)
}

const keyOf = (row: Raw, columns: readonly MartColumn[]): string =>
  columns.map(({ name, type }) => (type === 'date' ? String(row[name]).slice(0, 10) : row[name])).join(' ')

function grouped(rows: readonly Raw[], keys: readonly MartColumn[]): Map<string, Raw[]> {
  const groups = new Map<string, Raw[]>()
  for (const row of rows) {
    const key = keyOf(row, keys)
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}

const wrongColumns = (columns: readonly MartColumn[], mine: Raw, theirs: Raw): string[] =>
  columns
    .filter(column => !isEqual(column, mine[column.name], theirs[column.name]))
    .map(({ name }) => `${name}: expected ${mine[name]}, is ${theirs[name]}`)

/** The alternative with the fewest differences. */
function closest(columns: readonly MartColumn[], alternatives: readonly Raw[], row: Raw): string[] {
  const found = alternatives.map(mine => wrongColumns(columns, mine, row))
  return found.reduce((best, one) => (one.length < best.length ? one : best))
}

/** Lines such as `mart.x [key] column: expected 1, is 2`; also the number of figures that were compared. */
export function differences(
  mart: Mart,
  audit: Audit,
  { expected, actual }: { readonly expected: readonly Expected[]; readonly actual: readonly Raw[] },
): { readonly lines: string[]; readonly figures: number } {
  const opaque = new Set(audit.opaque)
  const compared = mart.columns.filter(({ name }) => !opaque.has(name))
  const keys = audit.by
    ? compared.filter(({ name }) => audit.by?.includes(name))
    : mart.columns.filter(({ isKey }) => isKey)
  const lines: string[] = []
  const missing = compared.filter(({ name }) => expected.some(row => row[name] === undefined))
  for (const { name } of missing) lines.push(`mart.${mart.name} ${name}: the audit expects nothing`)
  const mine = grouped(expected, keys)
  const theirs = grouped(actual, keys)
  for (const key of mine.keys()) if (!theirs.has(key)) lines.push(`mart.${mart.name} [${key}] has no row`)
  for (const [key, rows] of theirs) {
    const alternatives = mine.get(key)
    if (!alternatives) {
      lines.push(`mart.${mart.name} [${key}] should have no row`)
      continue
    }
    if (!audit.by && rows.length > 1) lines.push(`mart.${mart.name} [${key}] has ${rows.length} rows`)
    if (audit.by && rows.length !== alternatives.length)
      lines.push(`mart.${mart.name} [${key}] has ${rows.length} rows, expected ${alternatives.length}`)
    for (const row of rows)
      for (const wrong of closest(compared, alternatives, row))
        lines.push(`mart.${mart.name} [${key}] ${wrong}`)
  }
  return { lines, figures: actual.length * compared.length }
}
