/** The conditions of SQL: what stands between where, on, having, when, and, or, and the words that end a condition. */
import { closing, type Lexeme } from './lexemes.ts'

/** Indexes of its first lexeme and of the one behind it. */
export interface Condition {
  readonly from: number
  readonly to: number
}

const openers = new Set(['where', 'on', 'having', 'when'])
const others = new Set([
  ...['then', 'else', 'end', 'group', 'order', 'union', 'except', 'left', 'inner', 'cross', 'join', 'window'],
  ...['limit', 'select', 'from', 'returning', 'set', 'as', 'by', 'distinct', ',', ';'],
])

/** Whether an `and` is that of a `between`. */
export function isOfBetween(all: readonly Lexeme[], at: number): boolean {
  for (let index = at - 1; index > (all[at]?.within ?? -1); index -= 1) {
    const { text, within } = all[index] as Lexeme
    if (within !== all[at]?.within) continue
    if (text === 'between') return true
    if (text === 'and' || text === 'or' || openers.has(text)) return false
  }
  return false
}

/** Whether it stands in the condition of a join: altered to pair nearly all rows, it takes minutes, and any test notices. */
export function isOfJoin(all: readonly Lexeme[], at: number): boolean {
  const words = all.slice(0, at).filter(({ within }) => within === all[at]?.within)
  return words.findLast(({ text }) => openers.has(text) || text === 'select')?.text === 'on'
}

const isConnective = (all: readonly Lexeme[], at: number): boolean =>
  all[at]?.text === 'or' || (all[at]?.text === 'and' && !isOfBetween(all, at))

/** Of a `distinct from` none ends. */
const isEnd = (all: readonly Lexeme[], at: number): boolean => {
  const text = all[at]?.text ?? ''
  if (text === 'from' || text === 'distinct')
    return all[at - 1]?.text !== 'distinct' && !['is', 'not'].includes(all[at - 1]?.text ?? '')
  return openers.has(text) || others.has(text) || isConnective(all, at)
}

function behind(all: readonly Lexeme[], from: number): number {
  const within = all[from]?.within ?? -1
  const last = within < 0 ? all.length : closing(all, within)
  for (let at = from; at < last; at += 1) if (all[at]?.within === within && isEnd(all, at)) return at
  return last
}

function before(all: readonly Lexeme[], to: number): number {
  const within = all[to]?.within ?? -1
  for (let at = to - 1; at > within; at -= 1) if (all[at]?.within === within && isEnd(all, at)) return at + 1
  return within + 1
}

/** Those that another stands beside, and those alone behind a where, having or when; in order. */
export function conditionsOf(all: readonly Lexeme[]): readonly Condition[] {
  const found = new Map<number, Condition>()
  for (const [at, { text }] of all.entries()) {
    const isTie = isConnective(all, at)
    if (isTie) found.set(before(all, at), { from: before(all, at), to: at })
    if (isTie || (openers.has(text) && text !== 'on'))
      found.set(at + 1, { from: at + 1, to: behind(all, at + 1) })
  }
  return [...found.values()].filter(({ from, to }) => from < to)
}

/** Index of the and or the or that goes with it: of `a or b and c` the `and` goes with b. */
export function tieOf(all: readonly Lexeme[], { from, to }: Condition): number | undefined {
  const ties = [from - 1, to].filter(at => isConnective(all, at))
  return ties.find(at => all[at]?.text === 'and') ?? ties[0]
}
