/** Where a lexeme stands in its statement: the select around it, the condition it belongs to, what a condition asks for. */
import { closing, type Lexeme } from './lexemes.ts'

type Lexemes = readonly Lexeme[]

/** Indexes of its first lexeme and of the one behind it. */
export interface Range {
  readonly from: number
  readonly to: number
}

const behindClause = new Set([
  ...['where', 'group', 'order', 'having', 'window', 'limit', 'union', 'except', 'intersect', ';'],
  ...['left', 'inner', 'cross', 'join', 'full', 'right'],
])
const behindSelect = new Set(['union', 'except', 'intersect', ';'])

const textAt = (all: Lexemes, at: number): string => all[at]?.text ?? ''

/** Behind the last lexeme in the same bracket. */
const endOf = (all: Lexemes, at: number): number => {
  const within = all[at]?.within ?? -1
  return within < 0 ? all.length : closing(all, within)
}

/** Indexes in the range that stand in the same bracket as its first lexeme. */
function level(all: Lexemes, { from, to }: Range): readonly number[] {
  const within = all[from]?.within
  return [...all.keys()].slice(from, to).filter(at => all[at]?.within === within)
}

/** The select in which a lexeme stands, without what a union adds. */
export function selectAround(all: Lexemes, at: number): Range | undefined {
  const within = all[at]?.within ?? -1
  const from = level(all, { from: within + 1, to: at }).findLast(place => textAt(all, place) === 'select')
  if (from === undefined) return undefined
  const whole = { from, to: endOf(all, at) }
  const end = level(all, whole).find(place => behindSelect.has(textAt(all, place)))
  return { from, to: end ?? whole.to }
}

/** From behind a `where` or an `on` to the next clause. */
export function conditionBehind(all: Lexemes, at: number): Range {
  const whole = { from: at + 1, to: endOf(all, at) }
  const end = level(all, whole).find(place => behindClause.has(textAt(all, place)))
  return { from: at + 1, to: end ?? whole.to }
}

/** Indexes of the words in the bracket of the range, those inside of a case left out. */
function outsideOfCases(all: Lexemes, range: Range): readonly number[] {
  let depth = 0
  return level(all, range).filter(at => {
    if (textAt(all, at) === 'case') depth += 1
    if (textAt(all, at) === 'end') depth -= 1
    return depth === 0
  })
}

/** The parts of a condition that a word ties together. A between counts as one with what stands around its `and`. */
function parts(all: Lexemes, range: Range, tie: 'and' | 'or'): readonly Range[] {
  const places = outsideOfCases(all, range)
  if (places.some(at => textAt(all, at) === 'between')) return [range]
  const ties = places.filter(at => textAt(all, at) === tie)
  return [range.from - 1, ...ties].map((before, place) => ({
    from: before + 1,
    to: ties[place] ?? range.to,
  }))
}

/** Functions that give nothing for nothing. */
const strict = new Set(['abs', 'lower', 'day', 'days'])
/** Words of what may hold although a value is missing. */
const lenient = new Set([
  ...[
    'and',
    'or',
    'is',
    'in',
    'between',
    'case',
    'select',
    'any',
    'all',
    'exists',
    'distinct',
    'null',
    'cast',
    'like',
  ],
])

/** Whether these lexemes, such as `a` and `.`, stand in the range; a name alone is not one of another table. */
const mentions = (all: Lexemes, { from, to }: Range, sought: readonly string[]): boolean =>
  [...all.keys()].slice(from, to).some(at => {
    const isWhole = sought.at(-1) === '.' || textAt(all, at + sought.length) !== '.'
    return (
      isWhole &&
      textAt(all, at - 1) !== '.' &&
      sought.every((text, index) => textAt(all, at + index) === text)
    )
  })

function isStrict(all: Lexemes, { from, to }: Range): boolean {
  return all
    .slice(from, to)
    .every(
      ({ kind, text }, index) =>
        kind !== 'word' ||
        (!lenient.has(text) && (textAt(all, from + index + 1) !== '(' || text === 'not' || strict.has(text))),
    )
}

/** Whether the condition cannot hold where what is sought, such as `a.x` or all of `a.`, is missing. */
export function needs(all: Lexemes, range: Range, sought: readonly string[]): boolean {
  const { from, to } = range
  if (from >= to) return false
  if (textAt(all, from) === '(' && closing(all, from) === to - 1)
    return needs(all, { from: from + 1, to: to - 1 }, sought)
  const choices = parts(all, range, 'or')
  if (choices.length > 1) return choices.every(part => needs(all, part, sought))
  const conditions = parts(all, range, 'and')
  if (conditions.length > 1) return conditions.some(part => needs(all, part, sought))
  const isThere = all.slice(to - 3, to).map(({ text }) => text)
  if (isThere.join(' ') === 'is not null')
    return textAt(all, from) !== 'not' && needs(all, { from, to: to - 3 }, sought)
  return isStrict(all, range) && mentions(all, range, sought)
}

const openers = new Set(['where', 'on', 'having', 'when'])
const stops = new Set([
  ...['then', 'else', 'end', 'case', 'select', 'from', 'by', 'as', 'set', 'join', ',', ';', 'between'],
])

/** Index of the word or bracket that begins the list of conditions in which a lexeme stands. */
function openerOf(all: Lexemes, at: number): number {
  const within = all[at]?.within ?? -1
  const before = level(all, { from: within + 1, to: at })
  return before.findLast(place => openers.has(textAt(all, place)) || stops.has(textAt(all, place))) ?? within
}

/** Whether a `when` belongs to a case that asks for conditions, not for values. */
function isSearched(all: Lexemes, when: number): boolean {
  const before = level(all, { from: (all[when]?.within ?? -1) + 1, to: when })
  let depth = 0
  const start = before.findLast(at => {
    if (textAt(all, at) === 'end') depth += 1
    if (textAt(all, at) !== 'case') return false
    depth -= 1
    return depth < 0
  })
  return start !== undefined && textAt(all, start + 1) === 'when'
}

/** Whether a condition may begin here. */
export const isBegin = (all: Lexemes, at: number): boolean =>
  openers.has(textAt(all, at - 1)) || ['and', 'or', '('].includes(textAt(all, at - 1))

/** Whether a condition may end before this. */
export const isEnd = (all: Lexemes, at: number): boolean =>
  ['and', 'or', ')', 'then', ''].includes(textAt(all, at)) || behindClause.has(textAt(all, at))

/** Whether a condition decides only by being true, so that false and unknown are the same. */
export function isFilter(all: Lexemes, at: number): boolean {
  const opener = openerOf(all, at)
  const text = textAt(all, opener)
  if (text === 'when') return isSearched(all, opener)
  if (openers.has(text)) return true
  const isGroup = text === '(' && opener === all[at]?.within
  return isGroup && isBegin(all, opener) && isEnd(all, closing(all, opener) + 1) && isFilter(all, opener)
}

/** The conditions that an `and` ties to the one at this index; itself too. */
export function tiedTo(all: Lexemes, at: number): readonly Range[] {
  const from = openerOf(all, at) + 1
  const end = level(all, { from, to: endOf(all, from) }).find(
    place => place > at && (behindClause.has(textAt(all, place)) || stops.has(textAt(all, place))),
  )
  const whole = { from, to: end ?? endOf(all, from) }
  const own = parts(all, whole, 'or').find(part => part.from <= at && at < part.to)
  return own ? parts(all, own, 'and') : []
}
