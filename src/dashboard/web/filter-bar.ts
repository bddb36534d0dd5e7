/** Shows the filters above every page: lists to choose from, and two days. */
import type { FilterChoice, FilterChoices } from '../answers.ts'
import { defaultPerspective, filteredBy, perspectives } from '../filters.ts'
import { withValues } from './address.ts'
import type { OfferedFilters } from './answers.ts'
import { h, wordButton } from './dom.ts'

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

export function filterBar(choices: FilterChoices, parts: FilterParts): HTMLElement {
  const dimensions = filteredBy.filter(name => choices[name].length > 0)
  const isFiltered = [...parts.query].length > 0
  return h(
    'div',
    { class: 'filters', role: 'group', 'aria-label': 'Filters' },
    ...dimensions.map(name => dimensionFilter(name, choices[name], parts)),
    dayFilter('from', parts),
    dayFilter('to', parts),
    isFiltered && wordButton('Clear filters', () => parts.change(new URLSearchParams())),
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
