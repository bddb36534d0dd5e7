/**
 * Days between two instants as SQL, a double that is the same on both engines to its last bit. Of an interval they are
 * not: DuckDB adds up its days and seconds as doubles, PostgreSQL as decimals (548 of 200,000 differed).
 */
export const elapsedDays = (later: string, earlier: string): string =>
  `(cast(extract(epoch from ${later}) as double precision) - cast(extract(epoch from ${earlier}) as double precision)) / 86400.0`
