/** Alters SQL in one place at a time: a comparison, a limit, a join, a condition. */
import { conditionsOf, isOfBetween, isOfJoin, tieOf } from './conditions.ts'
import { isIdle } from './idle.ts'
import { closing, type Lexeme, lexemesOf } from './lexemes.ts'

export interface SqlMutant {
  /** What it alters of the text. */
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Each of a pair for the other. */
const pairs = [
  ['<', '<='],
  ['>', '>='],
  ['=', '<>'],
  ['max', 'min'],
  ['greatest', 'least'],
  ['bool_and', 'bool_or'],
  ['and', 'or'],
  ['left', 'inner'],
  ['asc', 'desc'],
  ['+', '-'],
] as const
const other = new Map<string, string>(
  pairs.flatMap(
    ([one, two]) =>
      [
        [one, two],
        [two, one],
      ] as const,
  ),
)
/** What has to stand behind a word that is something else without it. */
const behindWord: Readonly<Record<string, string>> = {
  ...{
    max: '(',
    min: '(',
    greatest: '(',
    least: '(',
    bool_and: '(',
    bool_or: '(',
    left: 'join',
    inner: 'join',
  },
}
/** A plus or minus behind one of these is that of a number. */
const beforeNumber = new Set([
  ...['(', ',', '=', '<', '>', '<=', '>=', '<>', '+', '-', '*', '/', '||', 'then', 'else', 'when', 'select'],
  ...['and', 'or', 'between', 'by', 'in'],
])
const types = new Set(['numeric', 'decimal', 'varchar'])
const endsOfOrder = new Set(['nulls', 'rows', 'range', 'limit'])

class Alterations {
  readonly found: SqlMutant[] = []
  readonly #sql: string
  readonly #all: readonly Lexeme[]

  constructor(sql: string, all: readonly Lexeme[]) {
    this.#sql = sql
    this.#all = all
    for (const at of this.#all.keys()) {
      this.#exchange(at)
      this.#limit(at)
      this.#leaveOut(at)
      this.#is(at)
      this.#coalesce(at)
      this.#ascending(at)
    }
    for (const { from, to } of conditionsOf(this.#all)) {
      const tie = tieOf(this.#all, { from, to })
      if (tie !== undefined) this.#drop(Math.min(tie, from), tie < from ? to : tie + 1)
      else if (this.#text(from - 3) !== 'filter' && !this.#isValue(from)) this.#replace({ from, to }, 'true')
    }
  }

  #text(at: number): string {
    return this.#all[at]?.text ?? ''
  }

  #replace({ from, to }: { from: number; to: number }, replacement: string): void {
    const [first, last] = [this.#all[from], this.#all[to - 1]]
    if (first && last) this.found.push({ start: first.start, end: last.end, replacement })
  }

  /** Of a case that compares values, such as `case status when 'done'`. */
  #isValue(at: number): boolean {
    return ['other', 'number'].includes(this.#all[at]?.kind ?? '')
  }

  /** With the space behind it. */
  #drop(from: number, to: number): void {
    const end = this.#all[to]?.start ?? this.#sql.length
    this.found.push({ start: this.#all[from]?.start ?? end, end, replacement: '' })
  }

  #exchange(at: number): void {
    const text = this.#text(at)
    const replacement = other.get(text)
    const needed = behindWord[text]
    if (replacement === undefined || (needed !== undefined && this.#text(at + 1) !== needed)) return
    if (this.#text(at - 1) === '.' || isOfBetween(this.#all, at)) return
    if (['=', 'and'].includes(text) && isOfJoin(this.#all, at)) return
    if ((text === '+' || text === '-') && beforeNumber.has(this.#text(at - 1))) return
    this.#replace({ from: at, to: at + 1 }, replacement)
  }

  /** A number one higher, unless it is the length of a type, the place of a column, or there to be counted or selected. */
  #limit(at: number): void {
    const { kind, text, within } = this.#all[at] as Lexeme
    if (kind !== 'number' || types.has(this.#text(within - 1)) || this.#text(at - 1) === 'select') return
    if (this.#text(at - 1) === 'then' && this.#text(within - 1) === 'count') return
    let first = at
    while (this.#text(first - 1) === ',' && this.#all[first - 2]?.kind === 'number') first -= 2
    if (this.#text(first - 1) !== 'by') this.#replace({ from: at, to: at + 1 }, String(Number(text) + 1))
  }

  #leaveOut(at: number): void {
    const [before, text, next] = [this.#text(at - 1), this.#text(at), this.#text(at + 1)]
    if (text === 'all' && before === 'union') this.#drop(at, at + 1)
    if (text === 'distinct' && next !== 'from' && next !== 'on') this.#drop(at, at + 1)
    if (text === 'not' && !['is', 'if', 'as'].includes(before) && next !== 'null') this.#drop(at, at + 1)
    if (text === 'filter' && next === '(') this.#drop(at, closing(this.#all, at + 1) + 1)
  }

  #is(at: number): void {
    if (this.#text(at) !== 'is') return
    if (this.#text(at + 1) === 'not') this.#drop(at + 1, at + 2)
    else this.#replace({ from: at, to: at + 1 }, 'is not')
  }

  /** Only its first argument. */
  #coalesce(at: number): void {
    if (this.#text(at) !== 'coalesce' || this.#text(at + 1) !== '(') return
    const comma = this.#all.findIndex(({ text, within }) => text === ',' && within === at + 1)
    const first = this.#sql.slice(this.#all[at + 2]?.start, this.#all[comma - 1]?.end)
    if (comma >= 0) this.#replace({ from: at, to: closing(this.#all, at + 1) + 1 }, `(${first})`)
  }

  /** An order of a window or an aggregate that does not say which way. */
  #ascending(at: number): void {
    const { text, within } = this.#all[at] as Lexeme
    if (text !== 'by' || this.#text(at - 1) !== 'order' || within < 0) return
    const close = closing(this.#all, within)
    const isAt = (place: number, texts: (text: string) => boolean) =>
      place === close || (this.#all[place]?.within === within && texts(this.#text(place)))
    let isOver = false
    for (let place = at + 1; place <= close && !isOver; place += 1) {
      if (!isAt(place, one => one === ',' || endsOfOrder.has(one))) continue
      isOver = this.#text(place) !== ',' && this.#text(place) !== 'nulls'
      const end = this.#all[place - 1]
      if (end && other.get(end.text)?.includes('sc') !== true && !['last', 'first'].includes(end.text))
        this.found.push({ start: end.end, end: end.end, replacement: ' desc' })
    }
  }
}

export const altered = (sql: string, { start, end, replacement }: SqlMutant): string =>
  sql.slice(0, start) + replacement + sql.slice(end)

/** In order of place, without those that change nothing. */
export function mutantsOf(sql: string): readonly SqlMutant[] {
  const all = lexemesOf(sql)
  const place = (offset: number): number => {
    const at = all.findIndex(({ start }) => start >= offset)
    return at < 0 ? all.length : at
  }
  return new Alterations(sql, all).found
    .filter(({ start, end, replacement }) => sql.slice(start, end) !== replacement)
    .filter(
      ({ start, end, replacement }) => !isIdle({ all, from: place(start), to: place(end), replacement }),
    )
    .sort((one, two) => one.start - two.start || one.end - two.end)
}
