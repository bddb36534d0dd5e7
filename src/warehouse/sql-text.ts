/** Quotes names and texts for SQL. */

/** Quotes an identifier; callers pass only names from the declarations. */
export function quoteName(name: string): string {
  if (name.includes('\0') || name.length === 0) throw new Error('an SQL name must not be empty or hold NUL')
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text literal, for places that accept no bound value, such as file lists and comments. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export const quoteNames = (names: readonly string[], prefix = ''): string =>
  names.map(name => prefix + quoteName(name)).join(', ')

/**
 * SQL for the days between two instants, as a double with the same bits on both engines. An interval would differ: DuckDB
 * adds days and seconds as doubles, PostgreSQL as decimals (548 of 200,000 differed).
 */
export const elapsedDays = (later: string, earlier: string): string =>
  `(cast(extract(epoch from ${later}) as double precision) - cast(extract(epoch from ${earlier}) as double precision)) / 86400.0`
