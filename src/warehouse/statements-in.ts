/** How many statements a text has, as both engines read SQL: they share texts, names and comments. */

const wordPart = /[\p{L}\p{N}_$]/u
const dollarQuote = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy

/** The place behind a text or a name in quotes; a doubled quote is the end of one and the beginning of the next. */
function behindQuoted(sql: string, at: number): number {
  const quote = sql[at]
  const isEscaping = /(^|[^\p{L}\p{N}_$])e$/iu.test(sql.slice(Math.max(0, at - 2), at)) && quote === "'"
  let place = at + 1
  while (place < sql.length && sql[place] !== quote) place += isEscaping && sql[place] === '\\' ? 2 : 1
  return place + 1
}

/** Comments hold comments. */
function behindComment(sql: string, at: number): number {
  let depth = 0
  let place = at
  do {
    const two = sql.slice(place, place + 2)
    if (two === '/*') depth += 1
    if (two === '*/') depth -= 1
    place += two === '/*' || two === '*/' ? 2 : 1
  } while (depth > 0 && place < sql.length)
  return place
}

function behindLine(sql: string, at: number): number {
  const end = sql.slice(at).search(/[\n\r]/)
  return end < 0 ? sql.length : at + end
}

function behindDollars(sql: string, at: number): number | undefined {
  if (wordPart.test(sql[at - 1] ?? ' ')) return undefined
  dollarQuote.lastIndex = at
  const [tag] = dollarQuote.exec(sql) ?? []
  if (tag === undefined) return undefined
  const end = sql.indexOf(tag, at + tag.length)
  return end < 0 ? sql.length : end + tag.length
}

interface Piece {
  readonly kind: 'text' | 'comment' | 'end'
  readonly next: number
}

function pieceAt(sql: string, at: number): Piece {
  const two = sql.slice(at, at + 2)
  const first = two[0] ?? ''
  if (two === '--') return { kind: 'comment', next: behindLine(sql, at) }
  if (two === '/*') return { kind: 'comment', next: behindComment(sql, at) }
  if (first === "'" || first === '"') return { kind: 'text', next: behindQuoted(sql, at) }
  const dollars = first === '$' ? behindDollars(sql, at) : undefined
  if (dollars !== undefined) return { kind: 'text', next: dollars }
  if (first === ';') return { kind: 'end', next: at + 1 }
  return { kind: /\s/.test(first) ? 'comment' : 'text', next: at + 1 }
}

/** Nothing between two semicolons is no statement. */
export function statementsIn(sql: string): number {
  let count = 0
  let isBegun = false
  for (let at = 0; at < sql.length; ) {
    const { kind, next } = pieceAt(sql, at)
    if (kind === 'text' && !isBegun) count += 1
    if (kind !== 'comment') isBegun = kind === 'text'
    at = next
  }
  return count
}
