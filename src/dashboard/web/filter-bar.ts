/** Shows the filters above every page: lists to choose from, and two days. */
import type { FilterChoice, FilterChoices } from '../answers.ts'
import { defaultPerspective, filteredBy, perspectives } from '../filters.ts'
import type { Period } from '../periods.ts'
import { withValues } from './address.ts'
import type { OfferedFilters } from './answers.ts'
import { shortened } from './charts/chart.ts'
import { h, wordButton } from './dom.ts'
import { formatted } from './format.ts'

const maxShown = 200

export interface FilterParts {
  readonly query: URLSearchParams
  readonly change: (query: URLSearchParams) => void
}

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

function labelOf(name: string, chosen: readonly string[], choices: readonly FilterChoice[]): string {
  const title = titleOf(name)
  const [first] = chosen
  if (first === undefined) return `${title}: all`
  if (chosen.length > 1) return `${title}: ${chosen.length} chosen`
  return `${title}: ${choices.find(({ id }) => id === first)?.name ?? first}`
}

function choiceRow(choice: FilterChoice, isChosen: boolean, toggle: (isOn: boolean) => void): HTMLElement {
  const box = h('input', { type: 'checkbox' })
  box.checked = isChosen
  box.addEventListener('change', () => toggle(box.checked))
  return h('label', {}, box, h('span', {}, choice.name))
}

function dimensionFilter(
  name: string,
  choices: readonly FilterChoice[],
  { query, change }: FilterParts,
): HTMLElement {
  const chosen = new Set(query.getAll(name))
  const list = h('div', { class: 'choices' })
  const search = h('input', { type: 'search', placeholder: `Find ${name}`, 'aria-label': `Find ${name}` })
  const fill = (): void => {
    const words = search.value.toLowerCase()
    const found = choices.filter(one => one.name.toLowerCase().includes(words))
    const rows = found.slice(0, maxShown).map(one =>
      choiceRow(one, chosen.has(one.id), isOn => {
        if (isOn) chosen.add(one.id)
        else chosen.delete(one.id)
        change(withValues(query, name, [...chosen]))
      }),
    )
    const more =
      found.length > maxShown && h('p', {}, `${found.length - maxShown} more: type a part of the name`)
    list.replaceChildren(...rows, more || '')
  }
  search.addEventListener('input', fill)
  const summary = h('summary', {}, labelOf(name, [...chosen], choices))
  const details = h(
    'details',
    { class: 'filter', name: 'filter' },
    summary,
    h('div', { class: 'popover' }, search, list),
  )
  details.addEventListener('toggle', () => details.open && fill())
  details.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return
    details.open = false
    summary.focus()
  })
  return details
}

function dayFilter(name: 'from' | 'to', { query, change }: FilterParts): HTMLElement {
  // Limits the browser's calendar, so that the last day is not before the first.
  const other = name === 'from' ? { max: query.get('to') ?? '' } : { min: query.get('from') ?? '' }
  const input = h('input', { type: 'date', value: query.get(name) ?? '', ...other })
  input.addEventListener('change', () => change(withValues(query, name, [input.value])))
  return h('label', { class: 'day' }, h('span', {}, name === 'from' ? 'From' : 'To'), input)
}

/** Sets both dates at once. */
function periodChoice(periods: readonly Period[], { query, change }: FilterParts): HTMLElement | false {
  if (periods.length === 0) return false
  const isChosen = ({ from, to }: Period): boolean => query.get('from') === from && query.get('to') === to
  const options = periods.map(one => h('option', { value: one.name, selected: isChosen(one) }, one.name))
  const isOwn = !periods.some(isChosen) && (query.has('from') || query.has('to'))
  const first = h('option', { value: '' }, isOwn ? 'Dates: own' : 'Dates: all')
  const select = h('select', { 'aria-label': 'Dates' }, first, ...options)
  select.addEventListener('change', () => {
    const chosen = periods.find(({ name }) => name === select.value)
    const next = withValues(query, 'from', chosen ? [chosen.from] : [])
    change(withValues(next, 'to', chosen ? [chosen.to] : []))
  })
  return select
}

/** Without dates there is no period before, so the switch then chooses some: a quarter, if as many weeks are settled. */
function compareSwitch(periods: readonly Period[], { query, change }: FilterParts): HTMLElement {
  const box = h('input', { type: 'checkbox' })
  box.checked = query.get('compare') === 'before'
  box.addEventListener('change', () => {
    const next = withValues(query, 'compare', box.checked ? ['before'] : [])
    const chosen = periods.find(({ name }) => /^Last 13/.test(name)) ?? periods[0]
    if (!box.checked || query.has('from') || !chosen) change(next)
    else change(withValues(withValues(next, 'from', [chosen.from]), 'to', [chosen.to]))
  })
  return h('label', { class: 'switch' }, box, h('span', {}, 'Compare with the period before'))
}

/** What a chip shows, and the filters without it. */
interface Chip {
  readonly text: string
  readonly without: URLSearchParams
  readonly isUnknown: boolean
}

function chipsOf(choices: FilterChoices, query: URLSearchParams): Chip[] {
  const members = filteredBy.flatMap(name =>
    query.getAll(name).map((id, _, ids): Chip => {
      const found = choices[name].find(one => one.id === id)
      const text = `${titleOf(name)}: ${found?.name ?? `${shortened(id, 40)} is not in the data any more`}`
      const rest = ids.filter(one => one !== id)
      return { text, without: withValues(query, name, rest), isUnknown: !found }
    }),
  )
  const days = (['from', 'to'] as const).flatMap((name): Chip[] => {
    const day = query.get(name)
    if (day === null) return []
    // An address may have any text; the page says what is wrong with it.
    const isDay = !Number.isNaN(Date.parse(day))
    const text = `${titleOf(name)} ${isDay ? formatted(day, 'date') : shortened(day, 40)}`
    return [{ text, without: withValues(query, name, []), isUnknown: false }]
  })
  return [...members, ...days]
}

/** The filters that are set, each with a button that removes it. */
function chipList(choices: FilterChoices, { query, change }: FilterParts): HTMLElement | false {
  const chips = chipsOf(choices, query)
  if (chips.length === 0) return false
  const list = chips.map(({ text, without, isUnknown }) =>
    h(
      'li',
      { class: isUnknown ? 'chip unknown' : 'chip' },
      h('span', {}, text),
      h('button', { type: 'button', 'aria-label': `Remove ${text}`, click: () => change(without) }, '×'),
    ),
  )
  return h('ul', { class: 'chips', 'aria-label': 'Filters that are set' }, ...list)
}

interface Offered {
  readonly choices: FilterChoices
  readonly periods: readonly Period[]
}

export function filterBar({ choices, periods }: Offered, parts: FilterParts): HTMLElement {
  const dimensions = filteredBy.filter(name => choices[name].length > 0)
  const isFiltered = [...parts.query].length > 0
  return h(
    'div',
    { class: 'filters', role: 'group', 'aria-label': 'Filters' },
    ...dimensions.map(name => dimensionFilter(name, choices[name], parts)),
    periodChoice(periods, parts),
    dayFilter('from', parts),
    dayFilter('to', parts),
    compareSwitch(periods, parts),
    isFiltered && wordButton('Clear filters', () => parts.change(new URLSearchParams())),
    chipList(choices, parts),
  )
}

/** Switches the whole page to the view of another party. A report has one filter at a time. */
export function perspectiveSwitch({ query, change }: FilterParts, isReport: boolean): HTMLElement {
  const chosen = query.get('perspective') ?? defaultPerspective
  const options = perspectives.map(one => h('option', { value: one, selected: one === chosen }, titleOf(one)))
  const select = h('select', {}, ...options)
  select.addEventListener('change', () => {
    const value = select.value === defaultPerspective ? '' : select.value
    change(withValues(isReport ? new URLSearchParams() : query, 'perspective', [value]))
  })
  return h('label', { class: 'day' }, h('span', {}, 'View of'), select)
}

interface Chooser {
  readonly name: string
  readonly all: string
  readonly choices: readonly FilterChoice[]
}

function choiceOf({ name, all, choices }: Chooser, { query, change }: FilterParts): HTMLElement {
  const chosen = query.get(name) ?? ''
  const options = [{ id: '', name: all }, ...choices].map(one =>
    h('option', { value: one.id, selected: one.id === chosen }, one.name),
  )
  const select = h('select', { 'aria-label': all.replace(/: all$/, '') }, ...options)
  select.addEventListener('change', () =>
    change(new URLSearchParams(select.value === '' ? {} : { [name]: select.value })),
  )
  return select
}

/** The filters of a report: one at a time, because it has the figures of each and no rows to compute others from. */
export function reportBar(
  choices: FilterChoices,
  { periods, cut }: OfferedFilters,
  parts: FilterParts,
): HTMLElement {
  const dimensions = filteredBy.map(name => ({
    name,
    all: `${titleOf(name)}: all`,
    choices: choices[name],
  }))
  const choosers = [...dimensions, { name: 'from', all: 'Dates: all', choices: periods }]
  const offered = choosers.filter(one => one.choices.length > (one.name === 'from' ? 0 : 1))
  const largest = cut.length > 0 && `, and the largest of each ${cut.join(', ')}`
  return h(
    'div',
    { class: 'filters', role: 'group', 'aria-label': 'Filters' },
    ...offered.map(one => choiceOf(one, parts)),
    offered.length > 0 &&
      h(
        'p',
        { class: 'about' },
        `This file has one filter at a time${largest || ''}; muster dashboard has all.`,
      ),
  )
}
