/**
 * Rewrites a statement of the portable subset for Spark 3.4 and later. Only what a token and its neighbours decide: what depends
 * on types is a token, such as `:days`.
 */
import { schemaNames } from '../../warehouse/schema/schemas.ts'
import { type Token, tokensOf } from '../../warehouse/sql-tokens.ts'

/** Parentheses with all inside, or one token. */
type Node = Token | readonly Node[]

const isGroup = (node: Node | undefined): node is readonly Node[] => Array.isArray(node)
const isToken = (node: Node | undefined): node is Token => node !== undefined && !isGroup(node)

function treeOf(sql: string): readonly Node[] {
  const open: Node[][] = [[]]
  for (const token of tokensOf(sql)) {
    const isSign = token.kind === 'sign'
    if (isSign && token.text === '(') open.push([])
    else if (isSign && token.text === ')') {
      const group = open.pop() ?? []
      open.at(-1)?.push(group)
    } else open.at(-1)?.push(token)
  }
  if (open.length !== 1) throw new Error('the parentheses of the statement do not match')
  return open[0] ?? []
}

const isSpace = (node: Node): boolean => isToken(node) && node.kind === 'space'

const wordAt = (nodes: readonly Node[], at: number): string => {
  const node = nodes[at]
  return isToken(node) && node.kind === 'word' ? node.text.toLowerCase() : ''
}

/** Index of the next node that is no space, from `at` on. */
function nextAt(nodes: readonly Node[], at: number): number {
  let place = at
  while (place < nodes.length && isSpace(nodes[place] as Node)) place += 1
  return place
}

function textOf(nodes: readonly Node[]): string {
  return nodes.map(node => (isGroup(node) ? `(${textOf(node)})` : node.text)).join('')
}

/** Whether these words follow each other from `at` on, with spaces between; returns the index behind them. */
function behindWords(nodes: readonly Node[], at: number, words: readonly string[]): number | undefined {
  let place = at
  for (const word of words) {
    place = nextAt(nodes, place)
    if (wordAt(nodes, place) !== word) return undefined
    place += 1
  }
  return place
}

/** A rule that fits the nodes from `at` on: its SQL, and the index behind what it replaces. */
type Rule = (
  nodes: readonly Node[],
  at: number,
) => { readonly sql: string; readonly next: number } | undefined

const types: Readonly<Record<string, string>> = {
  text: 'string',
  numeric: 'decimal',
  timestamptz: 'timestamp',
}

/** `as text` at the end of a cast. */
const castType: Rule = (nodes, at) => {
  if (wordAt(nodes, at) !== 'as') return undefined
  const place = nextAt(nodes, at + 1)
  const double = behindWords(nodes, place, ['double', 'precision'])
  if (double !== undefined) return { sql: 'as double', next: double }
  const type = types[wordAt(nodes, place)]
  const rest = nodes.slice(place + 1).filter(node => !isSpace(node))
  return type === undefined || rest.some(node => !isGroup(node))
    ? undefined
    : { sql: `as ${type}`, next: place + 1 }
}

/**
 * Spark copies a table expression into each of its readers, unless it depends on chance: then it is computed once. Without the
 * condition, which is always true, `worker_week` reads the timesheets some hundred times.
 */
const materialized: Rule = (nodes, at) => {
  const never = behindWords(nodes, at, ['as', 'not', 'materialized'])
  if (never !== undefined) return { sql: 'as', next: never }
  const place = nextAt(nodes, behindWords(nodes, at, ['as', 'materialized']) ?? nodes.length)
  const group = nodes[place]
  return isGroup(group)
    ? { sql: `as (select * from (${rewrite(group)}) as once where rand() >= 0)`, next: place + 1 }
    : undefined
}

/** Index behind a name as `a.b`, or a text; undefined where neither is. */
function behindOperand(nodes: readonly Node[], at: number): number | undefined {
  const node = nodes[at]
  if (!isToken(node) || !['word', 'text'].includes(node.kind)) return undefined
  return textOf(nodes.slice(at + 1, at + 2)) === '.' ? behindOperand(nodes, at + 2) : at + 1
}

/** `created_at at time zone 'UTC'`, of an instant: what its clocks show. */
const localTime: Rule = (nodes, at) => {
  const operand = behindOperand(nodes, at)
  const zone = operand && behindWords(nodes, operand, ['at', 'time', 'zone'])
  const from = nextAt(nodes, zone ?? nodes.length)
  const next = behindOperand(nodes, from)
  return operand === undefined || next === undefined
    ? undefined
    : {
        sql: `from_utc_timestamp(${textOf(nodes.slice(at, operand))}, ${textOf(nodes.slice(from, next))})`,
        next,
      }
}

const inner = (nodes: readonly Node[]): readonly Node[] => {
  const own = nodes.filter(node => !isSpace(node))
  return own.length === 1 && isGroup(own[0]) ? inner(own[0]) : nodes
}

/** Microseconds are exact; a difference of two timestamps is an interval in Spark. */
function secondsOf(nodes: readonly Node[]): string {
  const own = inner(nodes)
  const minus = own.findIndex(node => isToken(node) && node.text === '-')
  const micros = (part: readonly Node[]): string => `unix_micros(${rewrite(part).trim()})`
  return minus < 0
    ? `(${micros(own)} / 1e6)`
    : `((${micros(own.slice(0, minus))} - ${micros(own.slice(minus + 1))}) / 1e6)`
}

const extract: Rule = (nodes, at) => {
  const place = nextAt(nodes, at + 1)
  const group = nodes[place]
  if (wordAt(nodes, at) !== 'extract' || !isGroup(group)) return undefined
  const isodow = behindWords(group, 0, ['isodow', 'from'])
  if (isodow !== undefined)
    return { sql: `(weekday(${rewrite(group.slice(isodow)).trim()}) + 1)`, next: place + 1 }
  const epoch = behindWords(group, 0, ['epoch', 'from'])
  return epoch === undefined ? undefined : { sql: secondsOf(group.slice(epoch)), next: place + 1 }
}

const series: Rule = (nodes, at) => {
  const place = nextAt(nodes, at + 1)
  const group = nodes[place]
  return wordAt(nodes, at) === 'generate_series' && isGroup(group)
    ? { sql: `(select explode(sequence(${rewrite(group)})))`, next: place + 1 }
    : undefined
}

/** A window over dates takes days as integers. */
const rangeOfDays: Rule = (nodes, at) => {
  const interval = behindWords(nodes, at, ['range', 'between', 'interval'])
  const place = nextAt(nodes, interval ?? nodes.length)
  const text = nodes[place]
  const days = isToken(text) ? /^'(\d+) days?'$/.exec(text.text)?.[1] : undefined
  return days === undefined ? undefined : { sql: `range between ${days}`, next: place + 1 }
}

/** `cast(x as json) ->> 'key'`. */
const jsonField: Rule = (nodes, at) => {
  const place = nextAt(nodes, at + 1)
  const group = nodes[place]
  if (wordAt(nodes, at) !== 'cast' || !isGroup(group)) return undefined
  const as = group.findIndex((_, index) => behindWords(group, index, ['as', 'json']) !== undefined)
  const arrow = nextAt(nodes, place + 1)
  const key = nextAt(nodes, arrow + 3)
  if (as < 0 || textOf(nodes.slice(arrow, arrow + 3)) !== '->>') return undefined
  const field = textOf(nodes.slice(key, key + 1)).slice(1, -1)
  return { sql: `get_json_object(${rewrite(group.slice(0, as)).trim()}, '$.${field}')`, next: key + 1 }
}

/** The name of a table in SQL: in the runner a temporary view, in dbt a table expression. */
export const relationName = (table: string): string => table.replace('.', '_')

const relation: Rule = (nodes, at) => {
  const schema = wordAt(nodes, at)
  const dot = nodes[at + 1]
  const name = nodes[at + 2]
  const isQualified = isToken(dot) && dot.text === '.' && isToken(name)
  return isQualified && (schemaNames as readonly string[]).includes(schema)
    ? { sql: relationName(`${schema}.${name.text.replaceAll('"', '')}`), next: at + 3 }
    : undefined
}

const ends = new Set(['rows', 'range', 'limit', 'union', 'window'])

/** Empty values are last in both engines, and first in Spark. */
const orderBy: Rule = (nodes, at) => {
  const from = behindWords(nodes, at, ['order', 'by'])
  if (from === undefined) return undefined
  const found = nodes.findIndex((_, index) => index >= from && ends.has(wordAt(nodes, index)))
  const next = found < 0 ? nodes.length : found
  const items: Node[][] = [[]]
  for (const node of nodes.slice(from, next))
    if (isToken(node) && node.text === ',') items.push([])
    else items.at(-1)?.push(node)
  const ordered = items.map(item => {
    const words = item.map((_, index) => wordAt(item, index))
    const isSaid = words.includes('nulls') || words.includes('desc')
    return isSaid ? rewrite(item).trim() : `${rewrite(item).trim()} nulls last`
  })
  return { sql: `order by ${ordered.join(', ')}${found < 0 ? '' : ' '}`, next }
}

const rules = [materialized, castType, localTime, jsonField, extract, series, rangeOfDays, relation, orderBy]

/** A backslash escapes in Spark, and two quotes end one text and begin the next. */
const quoted = (text: string): string =>
  `'${text.slice(1, -1).replaceAll('\\', '\\\\').replaceAll("''", "\\'")}'`

function tokenSql({ kind, text }: Token): string {
  if (kind === 'name') return `\`${text.slice(1, -1).replaceAll('""', '"')}\``
  if (kind === 'text') return quoted(text)
  return kind === 'sign' && text === '~' ? 'rlike' : text
}

function rewrite(nodes: readonly Node[]): string {
  let sql = ''
  for (let at = 0; at < nodes.length; ) {
    const node = nodes[at] as Node
    const [made] = isSpace(node) ? [] : rules.flatMap(rule => rule(nodes, at) ?? [])
    sql += made?.sql ?? (isGroup(node) ? `(${rewrite(node)})` : tokenSql(node))
    at = made?.next ?? at + 1
  }
  return sql
}

/** Throws an Error for parentheses that do not match. */
export const sparkSql = (sql: string): string => rewrite(treeOf(sql))
