/** Shows the rows behind a figure in a dialog, with the statement that selected them. */
import type { PanelAnswer, PanelRow, RowsAnswer } from '../../answers.ts'
import type { AnswerSource } from '../answers.ts'
import { h, sqlBlock, wordButton } from '../dom.ts'
import { titleOf as columnTitle, unitOf } from '../format.ts'
import { nameOf, queryOf, titleOf } from './currency.ts'
import { saveCsv } from './export.ts'
import { tableOf } from './table.ts'

/** The filters of the page, and the columns of the row that was opened. */
function questionOf(panel: PanelAnswer, row: PanelRow, filters: URLSearchParams): URLSearchParams {
  const query = queryOf(panel, filters)
  for (const column of panel.drillBy ?? []) {
    const value = row[column]
    if (value === null) query.set(`null.${column}`, '')
    else if (value !== undefined) query.set(`row.${column}`, String(value))
  }
  return query
}

/** Names and references come first, ids last. */
function rankOf(column: string): number {
  if (/(_name|reference)$/.test(column)) return 0
  return /(^|_)(id|key)$/.test(column) ? 2 : 1
}

function contentOf(answer: RowsAnswer, csv: () => void): Node[] {
  const { rows, columns, isCut, sql, mart } = answer
  const known = columns
    .filter(name => name !== 'definition_id')
    .toSorted((one, other) => rankOf(one) - rankOf(other))
  const figures = known.map(column => ({ column, label: columnTitle(column), unit: unitOf(column) }))
  const count = isCut
    ? `The first ${rows.length} rows of mart.${mart}`
    : `${rows.length} rows of mart.${mart}`
  return [
    h('p', { class: 'about' }, count),
    tableOf({ caption: count, figures, rows }),
    h('div', { class: 'actions' }, wordButton('CSV of all rows', csv)),
    sqlBlock(sql),
  ]
}

interface RowsDialogRequest {
  readonly panel: PanelAnswer
  readonly row: PanelRow
  readonly filters: URLSearchParams
}

export function openRows(answers: AnswerSource, { panel, row, filters }: RowsDialogRequest): void {
  const { rows, csv } = answers
  if (!rows || !csv) return
  const query = questionOf(panel, row, filters)
  const body = h('div', { class: 'body', 'aria-live': 'polite' }, 'Reading…')
  const dialog = h(
    'dialog',
    { class: 'rows', 'aria-label': `Rows behind ${titleOf(panel)}` },
    h(
      'header',
      {},
      h('h2', {}, `Rows behind ${titleOf(panel)}`),
      wordButton('Close', () => dialog.close()),
    ),
    body,
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  const fail = (error: unknown): void =>
    body.replaceChildren(h('p', { class: 'notice' }, String((error as Error).message)))
  const save = (): void => void csv(panel.id, query).then(text => saveCsv(nameOf(panel), text), fail)
  rows(panel.id, query).then(answer => body.replaceChildren(...contentOf(answer, save)), fail)
}
