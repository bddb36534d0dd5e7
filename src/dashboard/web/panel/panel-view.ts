/** Shows one panel: its heading, its chart or table, and its buttons. */
import type { PanelAnswer, PanelRow } from '../../answers.ts'
import { type FilteredBy, filteredBy } from '../../filters.ts'
import type { PanelFigure } from '../../panel.ts'
import { insteadOfBars, maxBars } from '../charts/bars.ts'
import { h, sqlBlock, wordButton } from '../dom.ts'
import { withCurrency } from './amounts.ts'
import { nameOf, titleOf } from './currency.ts'
import { savePanelCsv, savePng } from './export.ts'
import { drawn, offered, tabular } from './figures.ts'
import { tableOf } from './table.ts'

export interface PanelEffects {
  /** Shows the rows behind a row; absent in a report. */
  readonly open?: ((panel: PanelAnswer, row: PanelRow) => void) | undefined
  /** Filters the page by a member; undefined where it is filtered by that one already, or cannot be. */
  readonly filter: (name: FilteredBy, id: string) => (() => void) | undefined
}

const kindsAsTable = ['table']
/** Figure of panels that draw all figures at once. */
const noFigure: PanelFigure = { column: '', label: '', unit: 'count' }

class PanelView {
  readonly element: HTMLElement
  readonly #panel: PanelAnswer
  readonly #effects: PanelEffects
  readonly #body = h('div', { class: 'body' })
  readonly #below = h('div', { class: 'below' })
  #figure: number
  #isTable = false
  #width = 0

  constructor(panel: PanelAnswer, effects: PanelEffects) {
    this.#panel = withCurrency(panel)
    this.#effects = effects
    this.#figure = 0
    const wide = panel.isWide ? ' wide' : ''
    const name = nameOf(panel)
    this.element = h(
      'section',
      { class: `panel${wide}`, id: name, 'aria-labelledby': `${name}-title` },
      h('header', {}, h('h2', { id: `${name}-title` }, titleOf(panel)), this.#chooser()),
      h('p', { class: 'about' }, panel.about),
      panel.ignored.length > 0 &&
        h(
          'p',
          { class: 'ignored' },
          `Not filtered by ${panel.ignored.join(', ')}: mart.${panel.mart} has no such column.`,
        ),
      this.#body,
      this.#actions(),
      this.#below,
    )
  }

  /** Draws for the width that the page gives it. */
  fit(): void {
    const width = Math.floor(this.#body.clientWidth)
    if (width === 0 || width === this.#width) return
    this.#width = width
    this.#draw()
  }

  #chooser(): HTMLElement | false {
    const figures = offered(this.#panel)
    if (figures.length < 2 || this.#panel.rows.length === 0) return false
    const options = figures.map(({ label }, index) => h('option', { value: index }, label))
    const select = h('select', { 'aria-label': `Figure of ${titleOf(this.#panel)}` }, ...options)
    select.addEventListener('change', () => {
      this.#figure = Number(select.value)
      this.#draw()
    })
    return select
  }

  /** The dimension of the page's filters that tells the rows of the panel apart. */
  get #dimension(): FilteredBy | undefined {
    const { drillBy } = this.#panel
    return drillBy?.length === 1 ? filteredBy.find(name => drillBy[0] === `${name}_id`) : undefined
  }

  /** Filters the page by the member of a row; shows the rows behind it where it has none, or is filtered already. */
  get #open(): ((row: PanelRow) => void) | undefined {
    const { open, filter } = this.#effects
    const dimension = this.#dimension
    const { drillBy, show } = this.#panel
    if (!drillBy || show.kind === 'funnel' || (!open && dimension === undefined)) return undefined
    return row => {
      const choose = dimension && filter(dimension, String(row[`${dimension}_id`]))
      if (choose) choose()
      else open?.(this.#panel, row)
    }
  }

  #table(): HTMLElement {
    const { figures, rows } = tabular(this.#panel)
    const opens = this.#dimension ? 'Filter the page by this' : 'Rows behind this'
    return tableOf({ caption: titleOf(this.#panel), figures, rows, open: this.#open, opens })
  }

  #draw(): void {
    const { failure, empty, rows } = this.#panel
    if (failure !== null) this.#body.replaceChildren(h('p', { class: 'notice', role: 'alert' }, failure))
    else if (rows.length === 0) this.#body.replaceChildren(h('p', { class: 'empty' }, empty))
    else this.#drawRows()
  }

  #drawRows(): void {
    const { rows, show } = this.#panel
    const figure = offered(this.#panel)[this.#figure] ?? noFigure
    const label = `${titleOf(this.#panel)}: ${figure.label}. The table has the same figures.`
    const parts = { rows, figure, width: this.#width, title: label, open: this.#open }
    const instead = show.kind === 'bars' && !this.#isTable ? insteadOfBars(parts) : undefined
    if (instead !== undefined) {
      this.#body.replaceChildren(h('p', { class: 'empty' }, instead))
      return
    }
    const chart = this.#isTable ? undefined : drawn(this.#panel, parts)
    const isCut = show.kind === 'bars' && chart !== undefined && rows.length > maxBars
    const rest = `The first ${maxBars} of ${rows.length}; the table has all.`
    this.#body.replaceChildren(chart ?? this.#table(), isCut ? h('p', { class: 'rest' }, rest) : '')
  }

  #actions(): HTMLElement | false {
    const { rows, show, drillBy } = this.#panel
    const { open } = this.#effects
    const hasRows = rows.length > 0
    const isChart = !kindsAsTable.includes(show.kind) && show.kind !== 'tiles'
    return h(
      'div',
      { class: 'actions' },
      hasRows &&
        isChart &&
        this.#toggle('Table', pressed => {
          this.#isTable = pressed
          this.#draw()
        }),
      this.#toggle('SQL', pressed => this.#below.replaceChildren(pressed ? sqlBlock(this.#panel.sql) : '')),
      hasRows &&
        open &&
        drillBy &&
        wordButton('Rows', () => open(this.#panel, drillBy.length === 0 ? (rows[0] ?? {}) : {})),
      hasRows && wordButton('CSV', () => savePanelCsv(this.#panel)),
      hasRows &&
        isChart &&
        show.kind !== 'verdicts' &&
        wordButton('PNG', () => {
          const svg = this.#body.querySelector('svg')
          if (svg) void savePng(nameOf(this.#panel), svg)
        }),
    )
  }

  /** Its label for screen readers includes the panel. */
  #toggle(label: string, turn: (isPressed: boolean) => void): HTMLButtonElement {
    const button = wordButton(
      label,
      () => {
        const pressed = button.getAttribute('aria-pressed') !== 'true'
        button.setAttribute('aria-pressed', String(pressed))
        turn(pressed)
      },
      { 'aria-pressed': 'false', 'aria-label': `${label} of ${titleOf(this.#panel)}` },
    )
    return button
  }
}

export const panelView = (panel: PanelAnswer, effects: PanelEffects): PanelView =>
  new PanelView(panel, effects)
export type { PanelView }
