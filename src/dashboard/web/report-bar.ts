/** The filters of a report: one at a time, because it carries the figures of each and no rows to work out others from. */
import type { Choice, Choices } from '../answers.ts'
import { filteredBy } from '../filter-names.ts'
import type { Offered } from './answers.ts'
import { h } from './dom.ts'
import { type FilterParts, titleOf } from './filter-bar.ts'

interface Chooser {
  readonly name: string
  readonly all: string
  readonly choices: readonly Choice[]
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

export function reportBar(choices: Choices, { periods, cut }: Offered, parts: FilterParts): HTMLElement {
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
