/** Shows single figures in large type, and the verdicts on the data. */
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'
import { changeFromBefore } from '../before.ts'
import { h } from '../dom.ts'
import { written } from '../format.ts'
import { detailOf } from './verdict-text.ts'

/** Those of `compared` also say how they differ from the period before. */
export const tilesOf = (
  row: PanelRow,
  figures: readonly PanelFigure[],
  compared: readonly PanelFigure[],
): HTMLElement =>
  h(
    'dl',
    { class: 'tiles' },
    ...figures.map(figure =>
      h(
        'div',
        {},
        h('dt', {}, figure.label),
        h('dd', {}, written(row[figure.column], figure, 'whole')),
        compared.some(({ column }) => column === figure.column) &&
          h('dd', { class: 'change' }, changeFromBefore(row, figure)),
      ),
    ),
  )

const symbols: Readonly<Record<string, string>> = { good: '✓', warning: '!', bad: '✕' }
const said: Readonly<Record<string, string>> = { good: 'Good', warning: 'Look at this', bad: 'Not good' }

function verdictOf(row: PanelRow): HTMLElement {
  const state = String(row.state)
  const isGood = state === 'good'
  return h(
    'li',
    { class: `verdict ${state}` },
    h('span', { class: 'symbol', 'aria-hidden': 'true' }, symbols[state] ?? ''),
    h(
      'div',
      {},
      h('strong', {}, String(row.topic), h('span', { class: 'spoken-only' }, `: ${said[state] ?? state}`)),
      h('p', {}, detailOf(row)),
      !isGood && h('p', {}, 'Run ', h('code', {}, String(row.command))),
    ),
  )
}

export const verdictsOf = (rows: readonly PanelRow[]): HTMLElement =>
  h('ul', { class: 'verdicts' }, ...rows.map(verdictOf))
