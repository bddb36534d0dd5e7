/** The filters above every page: lists to choose from, and two days. */
import type { Choice, Choices } from '../answers.ts'
import { filteredBy } from '../filter-names.ts'
import { withValues } from './address.ts'
import { h, wordButton } from './dom.ts'

const mostShown = 200

export interface FilterParts {
  readonly query: URLSearchParams
  readonly change: (query: URLSearchParams) => void
}

export const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

function labelOf(name: string, chosen: readonly string[], choices: readonly Choice[]): string {
  const title = titleOf(name)
  const [first] = chosen
  if (first === undefined) return `${title}: all`
  if (chosen.length > 1) return `${title}: ${chosen.length} chosen`
  return `${title}: ${choices.find(({ id }) => id === first)?.name ?? first}`
}

function choiceRow(choice: Choice, isChosen: boolean, toggle: (isOn: boolean) => void): HTMLElement {
  const box = h('input', { type: 'checkbox' })
  box.checked = isChosen
  box.addEventListener('change', () => toggle(box.checked))
  return h('label', {}, box, h('span', {}, choice.name))
}

function dimensionFilter(
  name: string,
  choices: readonly Choice[],
  { query, change }: FilterParts,
): HTMLElement {
  const chosen = new Set(query.getAll(name))
  const list = h('div', { class: 'choices' })
  const search = h('input', { type: 'search', placeholder: `Find ${name}`, 'aria-label': `Find ${name}` })
  const fill = (): void => {
    const words = search.value.toLowerCase()
    const found = choices.filter(one => one.name.toLowerCase().includes(words))
    const rows = found.slice(0, mostShown).map(one =>
      choiceRow(one, chosen.has(one.id), isOn => {
        if (isOn) chosen.add(one.id)
        else chosen.delete(one.id)
        change(withValues(query, name, [...chosen]))
      }),
    )
    const more =
      found.length > mostShown && h('p', {}, `${found.length - mostShown} more: type a part of the name`)
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
  // The browser's calendar offers no day that would end the dates before they begin.
  const other = name === 'from' ? { max: query.get('to') ?? '' } : { min: query.get('from') ?? '' }
  const input = h('input', { type: 'date', value: query.get(name) ?? '', ...other })
  input.addEventListener('change', () => change(withValues(query, name, [input.value])))
  return h('label', { class: 'day' }, h('span', {}, name === 'from' ? 'From' : 'To'), input)
}

export function filterBar(choices: Choices, parts: FilterParts): HTMLElement {
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
