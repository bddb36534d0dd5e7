/** Starts the dashboard in a browser: reads the address, asks for the page, and shows it. */
import type { FilterChoices, PageAnswer, PanelAnswer } from '../answers.ts'
import type { Period } from '../periods.ts'
import { addressOf, fragmentOf, type PageAddress, readPlace, takeToken, withValues } from './address.ts'
import { type AnswerSource, openAnswers, type PageName } from './answers.ts'
import { h } from './dom.ts'
import { type FilterParts, filterBar, perspectiveSwitch, reportBar } from './filter-bar.ts'
import { formatted } from './format.ts'
import { attentionList, type PageLink } from './panel/attention-view.ts'
import { HeadlineView } from './panel/headline-view.ts'
import { type PanelEffects, panelView } from './panel/panel-view.ts'
import { openRows } from './panel/rows-dialog.ts'
import { applyTheme, themeButton } from './theme.ts'

/** What a page draws again when its width changes. */
interface Fitting {
  readonly element: HTMLElement
  fit(): void
}

class Dashboard {
  readonly #answers: AnswerSource
  readonly #nav = h('nav', { 'aria-label': 'Pages' })
  readonly #filters = h('div', { class: 'filter-place' })
  readonly #content = h('main', { id: 'content', tabindex: -1 })
  #place: PageAddress
  #views: readonly Fitting[] = []
  #asking = new AbortController()
  #choices: FilterChoices | undefined
  #periods: readonly Period[] = []
  /** A page that the address names and that does not exist. */
  #unknown: string | undefined

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
    if (answers.every) this.#printWhole(answers.every)
  }

  #known(place: PageAddress): PageAddress {
    const found = this.#answers.pages.find(({ id }) => id === place.page)
    this.#unknown = found || place.page === '' ? undefined : place.page
    return this.#meant({ ...place, page: found?.id ?? this.#answers.pages[0]?.id ?? '' })
  }

  /** Without the party whose view it is, on a page that no party sees otherwise. */
  #meant(place: PageAddress): PageAddress {
    const page = this.#answers.pages.find(({ id }) => id === place.page)
    return page?.hasPerspectives ? place : { ...place, query: withValues(place.query, 'perspective', []) }
  }

  #address(place: PageAddress): string {
    return this.#answers.offered ? fragmentOf(place) : addressOf(place)
  }

  async #go(place: PageAddress): Promise<void> {
    this.#place = this.#meant(place)
    this.#unknown = undefined
    history.pushState(null, '', this.#address(this.#place))
    await this.show()
  }

  #link(page: PageName): HTMLElement {
    const isHere = page.id === this.#place.page
    const link = this.#linkTo({ page: page.id }, page.title)
    if (isHere) link.setAttribute('aria-current', 'page')
    return link
  }

  /** Keeps the filters. */
  readonly #linkTo: PageLink = ({ page, panel }, text) => {
    const place = this.#meant({ ...this.#place, page })
    const go = (event: MouseEvent): void => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      this.#content.focus()
      void this.#go(place).then(() => panel && this.#goToPanel(panel))
    }
    return h('a', { href: this.#address(place), click: go }, text)
  }

  #goToPanel(id: string): void {
    const panel = document.getElementById(id)
    panel?.setAttribute('tabindex', '-1')
    panel?.focus({ preventScroll: true })
    panel?.scrollIntoView()
  }

  #filterBy: PanelEffects['filter'] = (name, id) => {
    const { query } = this.#place
    const chosen = query.getAll(name)
    if (chosen.length === 1 && chosen[0] === id) return undefined
    const { offered } = this.#answers
    // A report has the figures of one filter at a time, of the members that it offers.
    if (offered && !this.#choices?.[name].some(one => one.id === id)) return undefined
    const from = offered ? new URLSearchParams() : query
    return () => void this.#go({ ...this.#place, query: withValues(from, name, [id]) })
  }

  get #filterParts(): FilterParts {
    return { query: this.#place.query, change: query => void this.#go({ ...this.#place, query }) }
  }

  #showFilters(): void {
    if (!this.#choices) return
    const open = this.#filters.querySelector<HTMLElement>('details[open] summary')?.textContent?.split(':')[0]
    const parts = this.#filterParts
    const { offered } = this.#answers
    const bar = offered
      ? reportBar(this.#choices, offered, parts)
      : filterBar({ choices: this.#choices, periods: this.#periods }, parts)
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
    document.title = `${answer.title} · Muster`
    const { children, views } = this.#drawnPage(answer)
    this.#views = views
    this.#content.replaceChildren(...children)
    this.#fit()
  }

  /** Every page of a report, one after the other on paper. */
  #showForPrint(every: readonly PageAnswer[]): HTMLElement {
    const drawn = every.map(answer => this.#drawnPage(answer))
    const printed = h(
      'div',
      { class: 'printed' },
      ...drawn.map(({ children }) => h('section', {}, ...children)),
    )
    this.#content.after(printed)
    for (const view of drawn.flatMap(({ views }) => views)) view.fit()
    return printed
  }

  #printWhole(every: (query: URLSearchParams) => PageAnswer[]): void {
    let printed: HTMLElement | undefined
    addEventListener('beforeprint', () => {
      printed?.remove()
      printed = this.#showForPrint(every(this.#place.query))
    })
    addEventListener('afterprint', () => printed?.remove())
  }

  #drawnPage(answer: PageAnswer): { children: HTMLElement[]; views: Fitting[] } {
    const { rows, offered } = this.#answers
    const { query } = this.#place
    const hasViews = answer.panels.some(({ perspective }) => perspective !== null)
    const open: PanelEffects['open'] =
      rows && ((panel, row) => openRows(this.#answers, { panel, row, filters: query }))
    const of = (...kinds: readonly string[]): PanelAnswer[] =>
      answer.panels.filter(({ show }) => kinds.includes(show.kind))
    const own = ['headline', 'attention']
    const headlines = of('headline').map(panel => new HeadlineView(panel, this.#linkTo, open))
    const others = answer.panels
      .filter(({ show }) => !own.includes(show.kind))
      .map(panel => panelView(panel, { open, filter: this.#filterBy }))
    const matters = of('attention')
    const children = [
      h(
        'div',
        { class: 'heading' },
        h('h1', {}, answer.question),
        this.#stateLine(answer),
        hasViews && perspectiveSwitch(this.#filterParts, offered !== undefined),
      ),
      this.#unknown !== undefined && unknownPage(this.#unknown),
      answer.compared !== null &&
        headlines.length === 0 &&
        h('p', { class: 'compared' }, comparedLine(answer)),
      headlines.length > 0 && h('div', { class: 'headlines' }, ...headlines.map(({ element }) => element)),
      h(
        'div',
        { class: 'panels' },
        matters.length > 0 && attentionList(matters, this.#linkTo),
        ...others.map(({ element }) => element),
      ),
    ]
    return { children: children.filter(one => one !== false), views: [...headlines, ...others] }
  }

  #fit(): void {
    for (const view of this.#views) view.fit()
  }

  /** A phone shows three of the links: the current one is in their middle. */
  #showLinks(): void {
    const nav = this.#nav
    nav.replaceChildren(...this.#answers.pages.map(page => this.#link(page)))
    const here = nav.querySelector<HTMLElement>('[aria-current]')
    if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.clientWidth) / 2
  }

  async show(): Promise<void> {
    this.#asking.abort()
    const asking = new AbortController()
    this.#asking = asking
    if (readPlace().query.has('perspective') && !this.#place.query.has('perspective'))
      history.replaceState(null, '', this.#address(this.#place))
    this.#showLinks()
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
    this.#periods = await this.#answers.dates
    this.#showFilters()
  }
}

/** What is compared on the page, or why nothing is. */
function comparedLine({ compared, panels }: PageAnswer): string {
  if (compared === null) return ''
  if ('why' in compared) return compared.why
  if (!panels.some(({ isCompared }) => isCompared))
    return 'Nothing is compared: no figure of this page is by settled week.'
  const days = ({ from, to }: { from: string; to: string }): string =>
    `${formatted(from, 'date')} to ${formatted(to, 'date')}`
  return `Settled weeks of ${days(compared)}, compared with ${days(compared.before)} in grey. Figures that are not by week stay as they are.`
}

const unknownPage = (id: string): HTMLElement =>
  h('p', { class: 'notice', role: 'alert' }, `There is no page ${id.slice(0, 60)}: choose one above.`)

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
