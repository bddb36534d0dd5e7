/** What engines write in different ways, as tokens of statements that are otherwise one text for all of them. */

/** A token has one colon, unlike the `::days` of a cast. */
const tokens = {
  /** `:days(later, earlier)`: days between two dates; Spark subtracts dates into an interval. */
  days: /(?<!:):days\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g,
  /** `:number(worker_id)`: an arbitrary number for each row, of which these columns are the key. */
  number: /(?<!:):number\(([^()]*)\)/g,
} as const

/** The parts of a text between commas that are in no parentheses. */
function argumentsIn(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of text) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop()}${character}`)
  }
  return parts.map(part => part.trim())
}

export interface EngineSql {
  days(later: string, earlier: string): string
  number(columns: string): string
}

/** Of DuckDB and PostgreSQL. An order would sort all rows for a number that nobody sees. */
export const plainSql: EngineSql = {
  days: (later, earlier) => `(${later} - ${earlier})`,
  number: () => 'row_number() over ()',
}

export const fillEngineTokens = (select: string, sql: EngineSql): string =>
  select
    .replace(tokens.number, (_, columns: string) => sql.number(columns))
    .replace(tokens.days, (_, both: string) => {
      const [later = '', earlier = ''] = argumentsIn(both)
      return sql.days(later, earlier)
    })
