/** Single figures in large type, and the answers to the questions about the data. */
import type { Row } from '../../answers.ts'
import type { Figure } from '../../panel.ts'
import { h } from '../dom.ts'
import { formatted } from '../format.ts'

export const tilesOf = (row: Row, figures: readonly Figure[]): HTMLElement =>
  h(
    'dl',
    { class: 'tiles' },
    ...figures.map(({ column, label, unit }) =>
      h('div', {}, h('dt', {}, label), h('dd', {}, formatted(row[column], unit))),
    ),
  )

const symbols: Readonly<Record<string, string>> = { good: '✓', warning: '!', bad: '✕' }
const said: Readonly<Record<string, string>> = { good: 'Good', warning: 'Look at this', bad: 'Not good' }

const inWords = (wrong: unknown, all: unknown, noun: unknown): string =>
  [
    formatted(wrong, 'count'),
    all !== null && `of ${formatted(all, 'count')}`,
    typeof noun === 'string' && noun,
  ]
    .filter(part => part !== false)
    .join(' ')

/** `3 of 19: companies, sites, users` and when it happened; a budget says what is left even when all is well. */
function detailOf({ wrong, of_all: all, names, noun, happened_at: at, state }: Row): string {
  const parts: string[] = []
  const isLeft = typeof noun === 'string' && noun.startsWith('left') && wrong !== null
  if (isLeft || (state !== 'good' && Number(wrong) > 0)) {
    const count = inWords(wrong, all, noun)
    parts.push(typeof names === 'string' && names !== '' ? `${count}: ${names}` : count)
  } else if (typeof all === 'number' && all > 0) parts.push(`All ${formatted(all, 'count')}`)
  else if (state !== 'good') parts.push('Nothing to go by yet')
  if (typeof at === 'string') parts.push(formatted(at, 'time'))
  return parts.join(' · ')
}

function verdictOf(row: Row): HTMLElement {
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

export const verdictsOf = (rows: readonly Row[]): HTMLElement =>
  h('ul', { class: 'verdicts' }, ...rows.map(verdictOf))
