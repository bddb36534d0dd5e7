/** Shows rows as a table: numbers aligned right by their digits, a heading for every column and row. */
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'
import { h } from '../dom.ts'
import { formatted, isNumeric } from '../format.ts'

export interface TableParts {
  readonly caption: string
  readonly figures: readonly PanelFigure[]
  readonly rows: readonly PanelRow[]
  /** Shows the rows behind a row; the first cell of each row is then a button. */
  readonly open?: ((row: PanelRow) => void) | undefined
}

const flagClass = (value: unknown, unit: PanelFigure['unit']): string | undefined => {
  if (unit !== 'flag' || value === null || value === undefined) return undefined
  return value === true ? 'yes' : 'no'
}

function cellOf(row: PanelRow, figure: PanelFigure): HTMLTableCellElement {
  const { column, unit } = figure
  const value = formatted(row[column], unit)
  const name = isNumeric(unit) || unit === 'date' ? 'number' : flagClass(row[column], unit)
  return h('td', { class: name }, value)
}

function rowOf(row: PanelRow, { figures, open }: TableParts): HTMLTableRowElement {
  const [first, ...others] = figures
  if (!first) return h('tr')
  const label = formatted(row[first.column], first.unit)
  const button =
    open &&
    h('button', { type: 'button', class: 'link', title: 'Rows behind this', click: () => open(row) }, label)
  const heading = h('th', { scope: 'row', class: isNumeric(first.unit) && 'number' }, button ?? label)
  return h('tr', {}, heading, ...others.map(figure => cellOf(row, figure)))
}

/** Scrolls sideways where it is wider than the page, also by keyboard. */
export function tableOf(parts: TableParts): HTMLElement {
  const { caption, figures, rows } = parts
  const head = figures.map(({ label, unit }) =>
    h('th', { scope: 'col', class: (isNumeric(unit) || unit === 'date') && 'number' }, label),
  )
  const table = h(
    'table',
    {},
    h('caption', { class: 'spoken-only' }, caption),
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...rows.map(row => rowOf(row, parts))),
  )
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, table)
}
