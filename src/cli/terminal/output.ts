/** The output of a command: tables and sentences for people, or one JSON document for programs. */
import Table from 'cli-table3'
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs, hourMs, minuteMs } from '../../lib/dates.ts'
import type { CommandContext } from '../context.ts'
import { inOneLine } from './terminal.ts'

/** A title alone aligns a column of numbers right and any other left. */
export type Column = string | { readonly title: string; readonly align: 'left' | 'right' }

export type Cell = string | number | bigint | boolean | null | undefined

type Streams = Pick<CommandContext, 'json' | 'stdout' | 'stderr'>

/** With --json, stdout holds the one document, so lines go to stderr. */
export function printLine(context: Streams, text: string): void {
  const stream = context.json ? context.stderr : context.stdout
  stream.write(`${text}\n`)
}

export function printTable(
  context: Streams,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): void {
  printLine(context, renderTable(columns, rows))
}

/** BigInts are written as numbers where JSON readers keep them exact, else as text. */
export function printJson(context: Streams, value: unknown): void {
  const exact = (_: string, item: unknown) => {
    if (typeof item !== 'bigint') return item
    return Number.isSafeInteger(Number(item)) ? Number(item) : String(item)
  }
  context.stdout.write(`${JSON.stringify(value, exact, 2)}\n`)
}

export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    head: columns.map(column => inOneLine(typeof column === 'string' ? column : column.title)),
    colAligns: columns.map((column, index) =>
      typeof column === 'string' ? alignmentOf(rows.map(row => row[index])) : column.align,
    ),
    chars: rules,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  for (const row of rows) table.push(columns.map((_, index) => formatCell(row[index])))
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
}

/** Two spaces between columns and one rule below the titles. */
const rules = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '-',
  'mid-mid': '  ',
  right: '',
  'right-mid': '',
  middle: '  ',
}

function alignmentOf(cells: readonly Cell[]): 'left' | 'right' {
  const values = cells.filter(cell => cell !== null && cell !== undefined)
  const isNumeric = values.every(cell => typeof cell === 'number' || typeof cell === 'bigint')
  return values.length > 0 && isNumeric ? 'right' : 'left'
}

export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

/** Escaped before the width of a column is measured. */
function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'bigint') return formatNumber(cell)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return inOneLine(cell)
}

const units = [
  { name: 'day', ms: dayMs },
  { name: 'hour', ms: hourMs },
  { name: 'minute', ms: minuteMs },
] as const

/** How long ago an instant was, in the largest unit that fits. */
export function ageOf(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant)
  for (const { name, ms: unit } of units) {
    const count = Math.floor(ms / unit)
    if (count >= 1) return `${counted(count, name)} ago`
  }
  return 'just now'
}
