/** Quotes names and texts for SQL. */

/** An identifier, quoted; callers pass names from the declarations only. */
export function quoteName(name: string): string {
  if (name.includes('\0') || name.length === 0) throw new Error('an SQL name must not be empty or hold NUL')
  return `"${name.replaceAll('"', '""')}"`
}

/** A text literal, for places where a statement cannot take a bound value, such as file lists and comments. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export const quoteNames = (names: readonly string[], prefix = ''): string =>
  names.map(name => prefix + quoteName(name)).join(', ')

/**
 * Days between two instants as SQL: a double that is the same on both engines to its last bit. From an interval it would
 * not be: DuckDB adds up days and seconds as doubles, PostgreSQL as decimals (548 of 200,000 differed).
 */
export const elapsedDays = (later: string, earlier: string): string =>
  `(cast(extract(epoch from ${later}) as double precision) - cast(extract(epoch from ${earlier}) as double precision)) / 86400.0`
