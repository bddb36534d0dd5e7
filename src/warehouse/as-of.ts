/** Schema `asof`: the rows of star as they were known at the end of a day, from star and history, in a query or as views. */
import { UsageError } from '../lib/errors.ts'
import { didYouMean } from '../lib/text/nearest.ts'
import { physicalTables } from './schema/physical.ts'
import { withPrefix } from './schema/schemas.ts'
import { quoteName, quoteNames, quoteText } from './sql-text.ts'
import { type Token, tokensOf } from './sql-tokens.ts'

const dated = new Map(
  physicalTables
    .filter(({ schema }) => schema === 'star')
    .map(({ name, columns }) => [name, quoteNames(columns.map(one => one.name))]),
)

/** A day, YYYY-MM-DD, and the zone in which it ends. */
export interface AsOfDay {
  readonly day: string
  readonly zone: string
}

/** A version counts from its change at the service, a deletion from the moment it was found. */
function versionAt(name: string, { day, zone }: AsOfDay): string {
  const end = `cast(date ${quoteText(day)} + 1 as timestamp) at time zone ${quoteText(zone)}`
  const columns = dated.get(name)
  return `
    select ${columns} from star.${name} where valid_from is null or valid_from < ${end}
    union all
    select ${columns} from history.${name} where valid_from < ${end} and valid_to >= ${end}`
}

/**
 * Statements that make schema `asof` with a view of each table, for programs that cannot ask through `queryAsOf`. Quoted, as
 * the name is a word of DuckDB's SQL.
 */
export function viewsAsOf(day: AsOfDay, prefix = ''): string[] {
  const schema = quoteName(`${prefix}asof`)
  const views = [...dated.keys()].flatMap(name => [
    `drop view if exists ${schema}.${name}`,
    `create view ${schema}.${name} as${withPrefix(versionAt(name, day), prefix)}`,
  ])
  return [`create schema if not exists ${schema}`, ...views]
}

function requireTable(name: string): string {
  if (dated.has(name)) return name
  throw new UsageError({
    what: `there is no table asof.${name}`,
    next: `schema asof has the tables of star that have a history${didYouMean(name, [...dated.keys()])}`,
  })
}

const isWord = (token: Token | undefined, word: string): boolean =>
  token?.kind === 'word' && token.text.toLowerCase() === word

/** The query with `asof.NAME` as a common table expression NAME. Throws UsageError if it reads no such table. */
export function queryAsOf(sql: string, day: AsOfDay): string {
  const tokens = [...tokensOf(sql)]
  const names = new Set<string>()
  const kept = tokens.filter((token, at) => {
    const [before, next, name] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]]
    if (isWord(token, 'asof') && next?.text === '.' && name?.kind === 'word') {
      names.add(requireTable(name.text.toLowerCase()))
      return false
    }
    return !(token.text === '.' && isWord(before, 'asof') && next?.kind === 'word')
  })
  if (names.size === 0)
    throw new UsageError({
      what: '--as-of needs a query that reads a table of schema asof',
      next: 'write asof.fact_timesheet instead of star.fact_timesheet',
    })
  const tables = [...names].map(name => `${name} as (${versionAt(name, day)})`).join(', ')
  const words = kept.filter(({ kind }) => kind !== 'space')
  const begun = isWord(words[0], 'with') ? (isWord(words[1], 'recursive') ? words[1] : words[0]) : undefined
  const rest = kept.slice(begun ? kept.indexOf(begun) + 1 : 0)
  const recursive = begun !== undefined && begun === words[1] ? ' recursive' : ''
  return `with${recursive} ${tables}${begun ? ',' : ''} ${rest.map(({ text }) => text).join('')}`
}
