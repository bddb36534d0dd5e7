/** Shows one headline figure: in large type, with its change, a small line, and a sentence where it is unusual. */
import type { PanelAnswer, PanelRow } from '../../answers.ts'
import {
  changeInWords,
  type HeadlineFacts,
  type HeadlineMember,
  type HeadlineWeek,
  judgeHeadline,
  relativeChange,
  sentenceOf,
  weeksInWords,
} from '../../headline.ts'
import type { PanelFigure } from '../../panel.ts'
import { drawSpark } from '../charts/spark.ts'
import { h, sqlBlock, wordButton } from '../dom.ts'
import { formatted, numberIn, written } from '../format.ts'
import { withCurrency } from './amounts.ts'
import { notFiltered, type PageLink } from './attention-view.ts'
import { nameOf, titleOf } from './currency.ts'
import { savePanelCsv } from './export.ts'

type OpenRows = (panel: PanelAnswer, row: PanelRow) => void

/** Settled weeks of the small line. */
const weeksDrawn = 26

function weeksIn(rows: readonly PanelRow[], figure: PanelFigure): HeadlineWeek[] {
  return rows
    .filter(row => row.is_settled_week === true && !Number.isNaN(numberIn(row[figure.column])))
    .map(row => {
      const parts = { numerator: numberIn(row.numerator), denominator: numberIn(row.denominator) }
      const isRatio = !Number.isNaN(parts.denominator)
      const week = { week: String(row.week).slice(0, 10), value: numberIn(row[figure.column]) }
      return isRatio ? { ...week, parts } : week
    })
    .toSorted((one, other) => (one.week < other.week ? -1 : 1))
}

const membersIn = (rows: readonly PanelRow[]): HeadlineMember[] =>
  rows
    .filter(row => !Number.isNaN(numberIn(row.now_figure)))
    .map(row => ({
      name: [row.agency_name, row.project_name].filter(one => typeof one === 'string').join(' at '),
      now: numberIn(row.now_figure),
      before: numberIn(row.figure_before),
    }))

interface ComparedWith {
  readonly than: string
  /** What is said without a figure to compare with. */
  readonly none: string
  readonly figure: PanelFigure
}

/** `up 12% on the 4 weeks before (£13,120)`. */
function changeLine(now: number, before: number | null, { than, none, figure }: ComparedWith): HTMLElement {
  if (before === null) return h('p', { class: 'change' }, none)
  const change = relativeChange(now, before)
  if (change === null)
    return h('p', { class: 'change' }, `The ${than} had ${written(before, figure, 'whole')}`)
  return h(
    'p',
    { class: 'change' },
    h('strong', {}, changeInWords(change)),
    ` on the ${than} (${written(before, figure, 'whole')})`,
  )
}

const rangeLine = (label: string, facts: HeadlineFacts, figure: PanelFigure): HTMLElement => {
  const sentence = sentenceOf(label, facts)
  if (sentence !== undefined) return h('p', { class: 'unusual' }, sentence)
  if (facts.range === null)
    return h('p', { class: 'about' }, 'Too few settled weeks to know its usual range.')
  const isPrice = figure.unit === 'price'
  const shown: PanelFigure = isPrice ? { ...figure, unit: 'money' } : figure
  const [low, high] = [Math.max(0, facts.range.low), facts.range.high].map(one =>
    written(one, shown, isPrice ? 'exact' : 'short'),
  )
  return h('p', { class: 'about' }, `Within its usual range, ${low} to ${high}.`)
}

export class HeadlineView {
  readonly element: HTMLElement
  readonly #panel: PanelAnswer
  readonly #figure: PanelFigure
  readonly #spark = h('div', { class: 'spark' })
  readonly #weeks: readonly HeadlineWeek[]
  readonly #facts: HeadlineFacts | undefined
  #width = 0

  constructor(answer: PanelAnswer, link: PageLink, open: OpenRows | undefined) {
    const panel = withCurrency(answer)
    const { show } = panel
    if (show.kind !== 'headline') throw new Error(`${panel.id} is no headline`)
    this.#panel = panel
    this.#figure = show.figure
    this.#weeks = show.week === undefined ? [] : weeksIn(panel.rows, show.figure)
    this.#facts = judgeHeadline(this.#weeks, membersIn(panel.rows))
    const name = nameOf(panel)
    this.element = h(
      'section',
      { class: 'panel headline', id: name, 'aria-labelledby': `${name}-title` },
      h('h2', { id: `${name}-title` }, link({ page: show.page }, titleOf(panel))),
      h('div', { class: 'body' }, ...this.#body(show.week !== undefined), notFiltered(panel)),
      h(
        'details',
        {},
        h('summary', {}, 'Behind this figure'),
        h('p', { class: 'about' }, panel.about),
        this.#actions(open),
      ),
    )
  }

  #actions(open: OpenRows | undefined): HTMLElement {
    const { rows, sql, title } = this.#panel
    const hasRows = rows.length > 0
    return h(
      'div',
      {},
      h(
        'div',
        { class: 'actions' },
        hasRows &&
          open &&
          wordButton('Rows', () => open(this.#panel, rows[0] ?? {}), { 'aria-label': `Rows of ${title}` }),
        hasRows && wordButton('CSV', () => savePanelCsv(this.#panel), { 'aria-label': `CSV of ${title}` }),
      ),
      sqlBlock(sql),
    )
  }

  #body(isWeekly: boolean): HTMLElement[] {
    const { failure, rows, empty } = this.#panel
    if (failure !== null) return [h('p', { class: 'notice', role: 'alert' }, failure)]
    if (isWeekly) return this.#facts ? this.#weekly(this.#facts) : [h('p', { class: 'empty' }, empty)]
    const value = rows[0]?.[this.#figure.column]
    if (value === undefined || value === null) return [h('p', { class: 'empty' }, empty)]
    return [
      h('p', { class: 'large', title: written(value, this.#figure) }, written(value, this.#figure, 'short')),
      h('p', { class: 'about' }, 'As it stands now; earlier states are not stored'),
      ...this.#also(rows[0] ?? {}),
    ]
  }

  #also(row: PanelRow): HTMLElement[] {
    const { show } = this.#panel
    const also = (show.kind === 'headline' && show.also) || []
    return also
      .filter(({ column }) => row[column] !== null)
      .map(figure =>
        h(
          'p',
          { class: 'change' },
          `${figure.label} `,
          h('strong', {}, written(row[figure.column], figure, 'whole')),
        ),
      )
  }

  #weekly(facts: HeadlineFacts): HTMLElement[] {
    const figure = this.#figure
    return [
      h('p', { class: 'large', title: written(facts.value, figure) }, written(facts.value, figure, 'short')),
      h('p', { class: 'about' }, `Week ending ${formatted(facts.week, 'date')}`),
      changeLine(facts.value, facts.before, {
        than: `${weeksInWords(facts.weeksBefore)} before`,
        none: 'No settled week before it is stored.',
        figure,
      }),
      changeLine(facts.value, facts.lastYear, {
        than: 'same week last year',
        none: 'The same week last year is not stored or not settled.',
        figure,
      }),
      this.#spark,
      rangeLine(this.#panel.title, facts, figure),
    ]
  }

  /** Draws for the width that the page gives it. */
  fit(): void {
    const width = Math.floor(this.#spark.clientWidth)
    if (width === 0 || width === this.#width || !this.#facts) return
    this.#width = width
    const weeks = this.#weeks.slice(-weeksDrawn)
    const title = `${titleOf(this.#panel)} of the last ${weeks.length} settled weeks, over its usual range`
    const { range, isUnusual } = this.#facts
    this.#spark.replaceChildren(drawSpark({ weeks, range, isUnusual, width, title }))
  }
}
