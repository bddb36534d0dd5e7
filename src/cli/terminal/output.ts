/** Prints the output of a command: tables and sentences for users, or one JSON document for programs. */
import { counted, formatNumber, timeUnits } from '../../lib/counted.ts'
import type { CommandContext } from '../context.ts'
import { coloured } from './colour.ts'
import { fitTable } from './fit-table.ts'
import { inOneLine, show, widthOf } from './terminal.ts'
import { showLine, textWidth, wrapped } from './wrapped.ts'

/** A column of numbers is aligned right and any other left, unless the declaration says otherwise. */
export type ShownColumn =
  | string
  | {
      readonly title: string
      readonly align?: 'left' | 'right'
      /** On a narrow terminal columns with lower numbers are left out first. */
      readonly drop?: number
      /** Characters below which a text is left out rather than shortened. */
      readonly minWidth?: number
      /** Breaks a long text over several lines instead of shortening it. */
      readonly breaks?: boolean
    }

export type ShownCell = string | number | bigint | boolean | null | undefined

type TableStreams = Pick<CommandContext, 'json' | 'stdout' | 'stderr'> & { readonly isColoured?: boolean }

/** With --json, stdout holds the one document, so lines go to stderr. */
export function printLine(context: TableStreams, text: string): void {
  showLine(context.json ? context.stderr : context.stdout, text)
}

export function printTable(
  context: TableStreams,
  columns: readonly ShownColumn[],
  rows: readonly (readonly ShownCell[])[],
): void {
  const { json, stdout, stderr, isColoured = false } = context
  const isStyled = isColoured && !json && stdout.styled !== undefined
  const render = (width: number): string => {
    const { lines, hidden } = tableWithin(columns, rows, { width, isColoured: isStyled })
    const note = hidden.length > 0 ? `${wrapped(`… not at this width: ${hidden.join(', ')}`, width)}\n` : ''
    return `${lines}\n${note}`
  }
  if (json) stderr.write(render(Number.POSITIVE_INFINITY))
  else if (isStyled) stdout.styled?.(render(widthOf(stdout)))
  else show(stdout, render)
}

/** BigInts are written as numbers where JSON readers keep them exact, else as text. */
export function printJson(context: TableStreams, value: unknown): void {
  const exact = (_: string, item: unknown) => {
    if (typeof item !== 'bigint') return item
    return Number.isSafeInteger(Number(item)) ? Number(item) : String(item)
  }
  context.stdout.write(`${JSON.stringify(value, exact, 2)}\n`)
}

export const renderTable = (
  columns: readonly ShownColumn[],
  rows: readonly (readonly ShownCell[])[],
): string => tableWithin(columns, rows, { width: Number.POSITIVE_INFINITY, isColoured: false }).lines

const titleOf = (column: ShownColumn): string => inOneLine(typeof column === 'string' ? column : column.title)

interface TableStyle {
  readonly width: number
  readonly isColoured: boolean
}

function tableWithin(
  columns: readonly ShownColumn[],
  rows: readonly (readonly ShownCell[])[],
  { width, isColoured }: TableStyle,
): { readonly lines: string; readonly hidden: readonly string[] } {
  const aligns = columns.map((column, index) =>
    typeof column === 'string' || !column.align ? alignmentOf(rows.map(row => row[index])) : column.align,
  )
  const fits = columns.map((column, index) => ({
    title: titleOf(column),
    isText: aligns[index] === 'left',
    drop: typeof column === 'string' ? undefined : column.drop,
    minWidth: typeof column === 'string' ? undefined : column.minWidth,
    breaks: typeof column === 'string' ? false : column.breaks,
  }))
  const texts = rows.map(row => columns.map((_, index) => formatCell(row[index])))
  const fitted = fitTable(fits, texts, width)
  const rowLines = fitted.rows.flatMap(linesOfRow)
  const cellsOf = (index: number): string[] => rowLines.map(row => row[index] ?? '')
  const widths = fitted.titles.map((title, index) =>
    Math.max(...[title, ...cellsOf(index)].map(one => textWidth(one))),
  )
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => padded(cell, widths[at] ?? 0, aligns[fitted.shown[at] ?? 0]))
      .join('  ')
      .trimEnd()
  const rule = widths.map(width => '-'.repeat(width)).join('  ')
  const body = rowLines.map(row => lineOf(isColoured ? row.map(coloured) : row))
  return { lines: [lineOf(fitted.titles), rule, ...body].join('\n'), hidden: fitted.hidden }
}

/** As many lines as the longest cell needs. */
function linesOfRow(cells: readonly string[]): string[][] {
  const lines = cells.map(cell => cell.split('\n'))
  const count = Math.max(...lines.map(({ length }) => length))
  return Array.from({ length: count }, (_, at) => lines.map(line => line[at] ?? ''))
}

/** Colours take no width. */
function padded(cell: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(cell)))
  return align === 'right' ? `${space}${cell}` : `${cell}${space}`
}

function alignmentOf(cells: readonly ShownCell[]): 'left' | 'right' {
  const values = cells.filter(cell => cell !== null && cell !== undefined)
  const isNumeric = values.every(cell => typeof cell === 'number' || typeof cell === 'bigint')
  return values.length > 0 && isNumeric ? 'right' : 'left'
}

export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

/** Escapes a cell; must come before the column's width is measured. */
function formatCell(cell: ShownCell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'bigint') return formatNumber(cell)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return inOneLine(cell)
}

/** How long ago an instant was, in the largest unit that fits. */
export function ageOf(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant)
  for (const { name, ms: unit } of timeUnits) {
    const count = Math.floor(ms / unit)
    if (count >= 1) return `${counted(count, name)} ago`
  }
  return 'just now'
}
