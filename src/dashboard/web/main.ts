/** Starts the dashboard in a browser: reads the address, asks for the page, and shows it. */
import type { FilterChoices, PageAnswer } from '../answers.ts'
import { addressOf, fragmentOf, type PageAddress, readPlace, takeToken } from './address.ts'
import { type AnswerSource, openAnswers, type PageName } from './answers.ts'
import { h } from './dom.ts'
import { type FilterParts, filterBar, perspectiveSwitch, reportBar } from './filter-bar.ts'
import { formatted } from './format.ts'
import { type PanelEffects, type PanelView, panelView } from './panel/panel-view.ts'
import { openRows } from './panel/rows-dialog.ts'
import { applyTheme, themeButton } from './theme.ts'

class Dashboard {
  readonly #answers: AnswerSource
  readonly #nav = h('nav', { 'aria-label': 'Pages' })
  readonly #filters = h('div', { class: 'filter-place' })
  readonly #content = h('main', { id: 'content', tabindex: -1 })
  #place: PageAddress
  #views: readonly PanelView[] = []
  #asking = new AbortController()
  #choices: FilterChoices | undefined

  constructor(answers: AnswerSource) {
    this.#answers = answers
    this.#place = this.#known(readPlace())
    const top = h(
      'header',
      { class: 'top' },
      h('span', { class: 'brand' }, 'muster'),
      this.#nav,
      themeButton(),
    )
    document.getElementById('app')?.replaceChildren(top, this.#filters, this.#content)
    addEventListener('popstate', () => {
      this.#place = this.#known(readPlace())
      void this.show()
    })
    new ResizeObserver(() => this.#fit()).observe(this.#content)
  }

  #known(place: PageAddress): PageAddress {
    const page = this.#answers.pages.find(({ id }) => id === place.page) ?? this.#answers.pages[0]
    return { ...place, page: page?.id ?? '' }
  }

  #address(place: PageAddress): string {
    return this.#answers.offered ? fragmentOf(place) : addressOf(place)
  }

  #go(place: PageAddress): void {
    this.#place = place
    history.pushState(null, '', this.#address(place))
    void this.show()
  }

  #link(page: PageName): HTMLElement {
    const place = { ...this.#place, page: page.id }
    const isHere = page.id === this.#place.page
    const go = (event: MouseEvent): void => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      this.#go(place)
      this.#content.focus()
    }
    return h('a', { href: this.#address(place), click: go, 'aria-current': isHere && 'page' }, page.title)
  }

  get #filterParts(): FilterParts {
    return { query: this.#place.query, change: query => this.#go({ ...this.#place, query }) }
  }

  #showFilters(): void {
    if (!this.#choices) return
    const open = this.#filters.querySelector<HTMLElement>('details[open] summary')?.textContent?.split(':')[0]
    const parts = this.#filterParts
    const { offered } = this.#answers
    const bar = offered ? reportBar(this.#choices, offered, parts) : filterBar(this.#choices, parts)
    this.#filters.replaceChildren(bar)
    if (open === undefined) return
    for (const details of this.#filters.querySelectorAll('details'))
      if (details.querySelector('summary')?.textContent?.startsWith(open)) details.open = true
  }

  #stateLine(answer: PageAnswer): HTMLElement {
    const { madeAt, filtered } = this.#answers
    const asOf = answer.asOf === null ? 'Nothing was synced yet' : `As of ${formatted(answer.asOf, 'time')}`
    const made = madeAt === undefined ? '' : `. Written ${formatted(madeAt, 'time')}`
    const by = filtered.length > 0 ? `, only ${filtered.join(', ')}` : ''
    return h('p', { class: 'as-of' }, `${asOf}${made}${by}`)
  }

  #showPage(answer: PageAnswer): void {
    const { rows, offered } = this.#answers
    const { query } = this.#place
    const hasViews = answer.panels.some(({ perspective }) => perspective !== null)
    const open: PanelEffects['open'] =
      rows && ((panel, row) => openRows(this.#answers, { panel, row, filters: query }))
    this.#views = answer.panels.map(panel => panelView(panel, { open }))
    document.title = `${answer.title} · Muster`
    this.#content.replaceChildren(
      h(
        'div',
        { class: 'heading' },
        h('h1', {}, answer.question),
        this.#stateLine(answer),
        hasViews && perspectiveSwitch(this.#filterParts, offered !== undefined),
      ),
      h('div', { class: 'panels' }, ...this.#views.map(({ element }) => element)),
    )
    this.#fit()
  }

  #fit(): void {
    for (const view of this.#views) view.fit()
  }

  async show(): Promise<void> {
    this.#asking.abort()
    const asking = new AbortController()
    this.#asking = asking
    this.#nav.replaceChildren(...this.#answers.pages.map(page => this.#link(page)))
    this.#showFilters()
    this.#content.setAttribute('aria-busy', 'true')
    try {
      const answer = await this.#answers.page(this.#place.page, this.#place.query, asking.signal)
      if (!asking.signal.aborted) this.#showPage(answer)
    } catch (error) {
      if (asking.signal.aborted) return
      this.#content.replaceChildren(h('p', { class: 'notice', role: 'alert' }, (error as Error).message))
    }
    this.#content.removeAttribute('aria-busy')
  }

  async offerFilters(): Promise<void> {
    this.#choices = await this.#answers.choices
    this.#showFilters()
  }
}

async function start(): Promise<void> {
  applyTheme()
  try {
    const dashboard = new Dashboard(await openAnswers(takeToken))
    await dashboard.show()
    await dashboard.offerFilters()
  } catch (error) {
    document
      .getElementById('app')
      ?.replaceChildren(h('p', { class: 'notice', role: 'alert' }, (error as Error).message))
  }
}

void start()
