/** Splits SQL into words, names, texts and comments, as both engines do. */

export interface Token {
  /** A word is bare, a name is in double quotes; space is white space and comments. */
  readonly kind: 'word' | 'name' | 'text' | 'space' | 'sign'
  readonly text: string
}

/** All characters outside ASCII count as letters, even spaces. */
const patterns = [
  ['space', /[ \t\n\r\f\v]+|--[^\n\r]*/y],
  ['word', /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*/iy],
  ['name', /"[^"]*(?:""[^"]*)*"?/y],
] as const
const plainText = /'[^']*(?:''[^']*)*'?/y
/** Text of an E'...', in which a backslash escapes a quote. */
const escapedText = /'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*(?:'|\\?$)/y
const dollarQuote = /\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/iy

function matchAt(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0]
}

/** Returns the end of a comment; comments may be nested. */
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

function behindDollars(sql: string, at: number): number | undefined {
  const tag = matchAt(dollarQuote, sql, at)
  if (tag === undefined) return undefined
  const end = sql.indexOf(tag, at + tag.length)
  return end < 0 ? sql.length : end + tag.length
}

function tokenAt(sql: string, at: number, isEscaped: boolean): Token {
  const first = sql[at] ?? ''
  if (sql.startsWith('/*', at)) return { kind: 'space', text: sql.slice(at, behindComment(sql, at)) }
  for (const [kind, pattern] of patterns) {
    const text = matchAt(pattern, sql, at)
    if (text !== undefined) return { kind, text }
  }
  const text =
    first === '$'
      ? sql.slice(at, behindDollars(sql, at) ?? at)
      : matchAt(isEscaped ? escapedText : plainText, sql, at)
  return text ? { kind: 'text', text } : { kind: 'sign', text: first }
}

/** A sign is one character; an unfinished text, name or comment extends to the end of the SQL. */
export function* tokensOf(sql: string): Generator<Token> {
  let isEscaped = false
  let isBehindText = false
  for (let at = 0; at < sql.length; ) {
    const token = tokenAt(sql, at, isEscaped)
    yield token
    const { kind, text } = token
    at += text.length
    // A text continues in the next text after a line break; an escaped text stays escaped there.
    if (kind === 'space') isEscaped &&= isBehindText
    else isEscaped = kind === 'word' ? /^e$/i.test(text) : isEscaped && text.startsWith("'")
    isBehindText = kind === 'text' || (kind === 'space' && isBehindText)
  }
}

/** Splits a text into statements without semicolons; skips empty ones. */
export function statementsIn(sql: string): readonly string[] {
  const statements: string[] = []
  let statement = ''
  let isBegun = false
  const end = (): void => {
    if (isBegun) statements.push(statement.trim())
    statement = ''
    isBegun = false
  }
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === 'sign' && text === ';') {
      end()
      continue
    }
    statement += text
    isBegun ||= kind !== 'space'
  }
  end()
  return statements
}
