/** Lists what needs attention today, each line with a link to the panel that has the rows; what needs none comes after it. */
import type { PanelAnswer } from '../../answers.ts'
import { h } from '../dom.ts'
import { formatted, numberIn, written } from '../format.ts'
import { withCurrency } from './amounts.ts'

/** A link to a page, or to one of its panels. */
export type PageLink = (to: { page: string; panel?: string }, text: string) => HTMLElement

/** Says at the figure that it counts more than the filters choose. */
export const notFiltered = ({ ignored }: PanelAnswer): HTMLElement | false =>
  ignored.length > 0 && h('span', { class: 'ignored' }, ` Not filtered by ${ignored.join(', ')}.`)

function detailsOf({ rows: [row = {}], show }: PanelAnswer): string {
  if (!('figures' in show)) return ''
  return show.figures
    .filter(({ column }) => row[column] !== null && row[column] !== undefined)
    .map(figure => `${figure.label} ${written(row[figure.column], figure, 'whole')}`.trim())
    .join(', ')
}

function lineOf(answer: PanelAnswer, link: PageLink): { isQuiet: boolean; element: HTMLElement } {
  const panel = withCurrency(answer)
  const { show, rows, id } = panel
  if (show.kind !== 'attention') throw new Error(`${id} is no line of attention`)
  const matters = numberIn(rows[0]?.[show.count])
  if (!(matters > 0)) return { isQuiet: true, element: h('li', { id }, show.none, notFiltered(panel)) }
  const words = `${formatted(matters, 'count')} ${matters === 1 ? show.one : show.many}`
  const details = detailsOf(panel)
  const element = h(
    'li',
    { id, class: 'matters' },
    link({ page: show.page, panel: show.panel }, words),
    details !== '' && h('span', { class: 'about' }, ` ${details}`),
    notFiltered(panel),
  )
  return { isQuiet: false, element }
}

export function attentionList(panels: readonly PanelAnswer[], link: PageLink): HTMLElement {
  // Lines that fail for one reason, such as missing marts, say it once.
  const failures = new Set(panels.flatMap(({ failure }) => failure ?? []))
  const lines = panels.filter(({ failure }) => failure === null).map(panel => lineOf(panel, link))
  const loud = lines.filter(({ isQuiet }) => !isQuiet)
  const quiet = lines.filter(({ isQuiet }) => isQuiet)
  return h(
    'section',
    { class: 'panel wide', id: 'attention', 'aria-labelledby': 'attention-title' },
    h('h2', { id: 'attention-title' }, 'What needs attention today'),
    h(
      'div',
      { class: 'body' },
      ...[...failures].map(failure => h('p', { class: 'notice', role: 'alert' }, failure)),
      loud.length > 0 && h('ul', { class: 'attention' }, ...loud.map(({ element }) => element)),
      quiet.length > 0 && h('ul', { class: 'attention quiet' }, ...quiet.map(({ element }) => element)),
    ),
  )
}
