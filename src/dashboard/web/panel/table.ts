/** Shows rows as a table: numbers aligned right by their digits, a heading for every column and row. */
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'
import { h } from '../dom.ts'
import { type Formattable, isNumeric, written } from '../format.ts'

export interface TableParts {
  readonly caption: string
  readonly figures: readonly PanelFigure[]
  readonly rows: readonly PanelRow[]
  /** Shows the rows behind a row; the first cell of each row is then a button. */
  readonly open?: ((row: PanelRow) => void) | undefined
  /** What the button does, for the reader. */
  readonly opens?: string
}

/** An amount of the rows behind a figure has the currency of its row. */
const formatOf = ({ unit, currency }: PanelFigure, row: PanelRow): Formattable => {
  const own = currency ?? (typeof row.currency === 'string' ? row.currency : undefined)
  return own === undefined ? { unit } : { unit, currency: own }
}

const flagClass = (value: unknown, unit: PanelFigure['unit']): string | undefined => {
  if (unit !== 'flag' || value === null || value === undefined) return undefined
  return value === true ? 'yes' : 'no'
}

function cellOf(row: PanelRow, figure: PanelFigure): HTMLTableCellElement {
  const { column, unit } = figure
  const value = written(row[column], formatOf(figure, row))
  const name = isNumeric(unit) || unit === 'date' ? 'number' : flagClass(row[column], unit)
  return h('td', { class: name }, value)
}

function rowOf(
  row: PanelRow,
  { figures, open, opens = 'Rows behind this' }: TableParts,
): HTMLTableRowElement {
  const [first, ...others] = figures
  if (!first) return h('tr')
  const label = written(row[first.column], formatOf(first, row))
  const button =
    open && h('button', { type: 'button', class: 'link', title: opens, click: () => open(row) }, label)
  const kind = isNumeric(first.unit) ? 'number' : /^[\w-]{1,24}$/.test(label) && 'reference'
  const heading = h('th', { scope: 'row', class: kind }, button ?? label)
  return h('tr', {}, heading, ...others.map(figure => cellOf(row, figure)))
}

const isMissing = (value: unknown): boolean => value === null || value === undefined || value === ''

/** A column of dashes says less than a sentence: those without a value in any row are named instead. */
function knownFigures({ figures, rows }: TableParts): [known: PanelFigure[], unknown: PanelFigure[]] {
  const [first, ...others] = figures
  const hasValue = ({ column }: PanelFigure): boolean => rows.some(row => !isMissing(row[column]))
  const known = others.filter(hasValue)
  return [first ? [first, ...known] : known, others.filter(figure => !hasValue(figure))]
}

/** Scrolls sideways where it is wider than the page, also by keyboard. */
export function tableOf(parts: TableParts): HTMLElement {
  const { caption, rows } = parts
  const [known, unknown] = knownFigures(parts)
  const head = known.map(({ label, unit }, place) =>
    h('th', { scope: 'col', class: (isNumeric(unit) || (unit === 'date' && place > 0)) && 'number' }, label),
  )
  const table = h(
    'table',
    {},
    h('caption', { class: 'spoken-only' }, caption),
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...rows.map(row => rowOf(row, { ...parts, figures: known }))),
  )
  const scroll = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, table)
  if (unknown.length === 0) return scroll
  const names = unknown.map(({ label }) => label).join(', ')
  return h('div', {}, scroll, h('p', { class: 'rest' }, `Not known for any of these rows: ${names}.`))
}
