/** Alterations of SQL that change nothing, as the words around them show: they are not made. */
import { conditionBehind, isBegin, isEnd, isFilter, needs, selectAround, tiedTo } from './clauses.ts'
import { closing, type Lexeme } from './lexemes.ts'

/** What an alteration takes away, by index, and what it puts in its place. */
export interface Alteration {
  readonly all: readonly Lexeme[]
  readonly from: number
  readonly to: number
  readonly replacement: string
}

const textAt = (all: readonly Lexeme[], at: number): string => all[at]?.text ?? ''
const textOf = (all: readonly Lexeme[], from: number, to: number): string =>
  all
    .slice(from, to)
    .map(({ text }) => text)
    .join(' ')

/** Index of the first of these words in the bracket of a lexeme, from it on. */
const next = (all: readonly Lexeme[], at: number, ...texts: readonly string[]): number =>
  all.findIndex((one, place) => place >= at && one.within === all[at]?.within && texts.includes(one.text))

/** Behind `left join star.x as s`: what stands before each of its columns. */
function aliasOf(all: readonly Lexeme[], join: number): string | undefined {
  const table =
    textAt(all, join + 1) === '(' ? closing(all, join + 1) : join + (textAt(all, join + 2) === '.' ? 3 : 1)
  const alias = textAt(all, table + 1) === 'as' ? table + 2 : table
  return all[alias]?.kind === 'word' ? textAt(all, alias) : undefined
}

/** A left join is an inner one where a later condition asks for its columns. */
function isInnerAnyway({ all, from, replacement }: Alteration): boolean {
  if (!['left', 'inner'].includes(replacement)) return false
  const alias = aliasOf(all, from + 1)
  const select = selectAround(all, from)
  if (alias === undefined || select === undefined) return false
  const own = [...all.keys()].slice(from + 2, select.to).filter(at => all[at]?.within === all[from]?.within)
  if (own.some(at => ['full', 'right'].includes(textAt(all, at)))) return false
  const isOfInner = (on: number): boolean => {
    const join = own.findLast(at => at < on && textAt(all, at) === 'join')
    return join !== undefined && textAt(all, join - 1) === 'inner'
  }
  const conditions = own.filter(
    at => textAt(all, at) === 'where' || (textAt(all, at) === 'on' && isOfInner(at)),
  )
  return conditions.some(at => needs(all, conditionBehind(all, at), [alias, '.']))
}

/** `x is not null` beside a condition that needs x. */
function isAskedBeside({ all, from, to, replacement }: Alteration): boolean {
  if (replacement !== '') return false
  const [first, last] = [
    textAt(all, from) === 'and' ? from + 1 : from,
    textAt(all, to - 1) === 'and' ? to - 1 : to,
  ]
  if (last - first === to - from || textOf(all, last - 3, last) !== 'is not null' || !isFilter(all, first))
    return false
  const column = all.slice(first, last - 3)
  if (column.length !== 1 && (column.length !== 3 || column[1]?.text !== '.')) return false
  const name = column.map(({ text }) => text)
  return tiedTo(all, first).some(part => part.from !== first && needs(all, part, name))
}

const holds: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '=': (one, other) => one === other,
  '<>': (one, other) => one !== other,
}
const reckoning = new Set(['+', '-', '*', '/', '%', '||', '::', '.'])

/** The comparison of a bracket, such as `coalesce(...) > 0`, that stands alone: its sign and the value. */
function comparison(all: readonly Lexeme[], first: number, close: number) {
  const [sign, value] = [textAt(all, close + 1), all[close + 2]]
  if (reckoning.has(textAt(all, first - 1)) || reckoning.has(textAt(all, close + 3))) return undefined
  return value && holds[sign] ? { holds: holds[sign], value } : undefined
}

const isNumber = (...all: readonly Lexeme[]): boolean => all.every(({ kind }) => kind === 'number')

/** `coalesce(x, 0) > 0` as a condition does not hold without x anyway. */
function isFalseWithout({ all, from, to, replacement }: Alteration): boolean {
  if (textAt(all, from) !== 'coalesce' || !replacement.startsWith('(')) return false
  const commas = [...all.keys()].filter(at => textAt(all, at) === ',' && all[at]?.within === from + 1)
  const fallback = all[to - 2]
  if (commas.length !== 1 || commas[0] !== to - 3 || !fallback) return false
  const isNegated = textAt(all, from - 1) === 'not'
  if (!isBegin(all, isNegated ? from - 1 : from) || !isFilter(all, from)) return false
  if (isEnd(all, to)) return fallback.text === String(isNegated)
  const compared = comparison(all, from, to - 1)
  if (!compared || isNegated || !isEnd(all, to + 2)) return false
  if (isNumber(fallback, compared.value))
    return !compared.holds(Number(fallback.text), Number(compared.value.text))
  const areTexts = [fallback, compared.value].every(({ text }) => text.startsWith("'"))
  return areTexts && textAt(all, to) === '=' && fallback.text !== compared.value.text
}

/** The last value of a coalesce is as much above a limit as before. */
function isAsFarFromLimit({ all, from, to, replacement }: Alteration): boolean {
  const open = all[from]?.within ?? -1
  if (to !== from + 1 || all[from]?.kind !== 'number' || textAt(all, open - 1) !== 'coalesce') return false
  if (textAt(all, from - 1) !== ',' || textAt(all, to) !== ')') return false
  const compared = comparison(all, open - 1, to)
  if (!compared || !isNumber(compared.value)) return false
  const limit = Number(compared.value.text)
  return compared.holds(Number(textAt(all, from)), limit) === compared.holds(Number(replacement), limit)
}

/** `case when a < b then b else a end`: which of two equal values is taken does not matter. */
function isChoiceOfEqual({ all, from, to, replacement }: Alteration): boolean {
  if (!['<', '<=', '>', '>='].includes(textAt(all, from)) || !(replacement in holds)) return false
  const when = [...all.keys()]
    .slice(0, from)
    .findLast(at => all[at]?.within === all[from]?.within && textAt(all, at) === 'when')
  if (when === undefined || textAt(all, when - 1) !== 'case') return false
  const then = next(all, from, 'then')
  const otherwise = next(all, from, 'else', 'when')
  const end = next(all, from, 'end')
  if (then < 0 || textAt(all, otherwise) !== 'else' || end < otherwise) return false
  const compared = [textOf(all, when + 1, from), textOf(all, to, then)].sort()
  const taken = [textOf(all, then + 1, otherwise), textOf(all, otherwise + 1, end)].sort()
  return compared.every((text, index) => text === taken[index])
}

/** The median is the same from both ends. */
function isMedian({ all, from, replacement }: Alteration): boolean {
  const open = all[from - 1]?.within ?? -1
  if (replacement !== ' desc' || textOf(all, open - 2, open) !== 'within group') return false
  return textOf(all, open - 6, open - 2) === 'percentile_cont ( 0.5 )' && textAt(all, from) === ')'
}

/** Functions that give something else where a row stands twice, or may. */
const counting =
  /^(sum|count|avg|string_agg|array_agg|stddev_samp|percentile_cont|row_number|rank|lag|lead|over|limit)$/

/** All rows of a union are read only by what sees a row that stands twice once. */
function isReadAsSet({ all, from, to, replacement }: Alteration): boolean {
  const open = all[from]?.within ?? -1
  if (replacement !== '' || textOf(all, from - 1, to) !== 'union all' || open < 0) return false
  if (['in', 'exists'].includes(textAt(all, open - 1))) return true
  const select = textAt(all, open - 1) === 'from' ? selectAround(all, open) : undefined
  if (!select) return false
  const around = [...all.slice(select.from, open), ...all.slice(closing(all, open), select.to)]
  if (around.some(({ text }) => counting.test(text)) || next(all, open + 1, 'limit') >= 0) return false
  const own = around.filter(({ within }) => within === all[open]?.within).map(({ text }) => text)
  return (
    own[1] === 'distinct' ||
    own.includes('group') ||
    /^select ((greatest|least) \( )?(min|max|bool_or|bool_and) \(/.test(textOf(all, select.from, open))
  )
}

const kinds = [
  isInnerAnyway,
  isAskedBeside,
  isFalseWithout,
  isAsFarFromLimit,
  isChoiceOfEqual,
  isMedian,
  isReadAsSet,
]

/** What stands for a value of TypeScript, or for SQL of each resource, may hide any words. */
const hidden = /^(zq\d+q|\{)$/

export const isIdle = (alteration: Alteration): boolean =>
  !alteration.all.some(({ text }) => hidden.test(text)) &&
  kinds.some(changesNothing => changesNothing(alteration))
