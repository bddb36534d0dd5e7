/** The words, signs and numbers of SQL without its space, each with the bracket that it stands in. */
import { tokensOf } from '../../../src/warehouse/sql-tokens.ts'

export interface Lexeme {
  /** In lower case where it is a word. */
  readonly text: string
  readonly kind: 'word' | 'number' | 'sign' | 'other'
  readonly start: number
  readonly end: number
  /** Index of the bracket that it stands in; -1 outside of all. Both brackets of a pair stand where the pair does. */
  readonly within: number
}

type Piece = Pick<Lexeme, 'kind' | 'text' | 'start'>

/** Signs of two characters. */
const joined = new Set(['<=', '>=', '<>', '!=', '||', '::', '->', '>>'])

function* piecesOf(sql: string): Generator<Piece> {
  let start = 0
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === 'word') yield { kind, text: text.toLowerCase(), start }
    else if (kind === 'sign') yield { kind: /\d/.test(text) ? 'number' : 'sign', text, start }
    else if (kind !== 'space') yield { kind: 'other', text, start }
    start += text.length
  }
}

/** Both as one, if they stand side by side and are one. */
function together(one: Piece, other: Piece): Piece | undefined {
  if (one.start + one.text.length !== other.start) return undefined
  const text = one.text + other.text
  const isNumber = one.kind === 'number' && (other.kind === 'number' || other.text === '.')
  return isNumber || joined.has(text) ? { ...one, text } : undefined
}

export function lexemesOf(sql: string): readonly Lexeme[] {
  const pieces: Piece[] = []
  for (const piece of piecesOf(sql)) {
    const last = pieces.at(-1)
    const both = last && together(last, piece)
    if (both) pieces.pop()
    pieces.push(both ?? piece)
  }
  const open: number[] = []
  return pieces.map(({ kind, text, start }, index) => {
    if (text === ')') open.pop()
    const within = open.at(-1) ?? -1
    if (text === '(') open.push(index)
    return { kind, text, start, end: start + text.length, within }
  })
}

/** Index of what closes the bracket at this index. */
export const closing = (all: readonly Lexeme[], open: number): number =>
  all.findIndex(({ text, within }, at) => at > open && text === ')' && within === all[open]?.within)
