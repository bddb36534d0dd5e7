/** Converts DuckDB's values to plain JSON values. */
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api'

/** Max distance of a Date from the epoch. */
const lastMs = 8_640_000_000_000_000

/** The first day of year 1: earlier ISO 8601 years count from 0, so they differ from those of DuckDB's dates. */
const firstMs = Date.parse('0001-01-01T00:00:00Z')

/** Microseconds since the epoch as ISO 8601 UTC, with as many decimals as the value needs, at least three. */
function isoTime(value: DuckDBTimestampValue | DuckDBTimestampTZValue): string {
  const { micros } = value
  const milliseconds = Number(micros / 1000n - (micros % 1000n < 0n ? 1n : 0n))
  // Infinity, and years after 275760 or before 1.
  if (Math.abs(milliseconds) > lastMs || milliseconds < firstMs) return value.toString()
  const finer = ((micros % 1000n) + 1000n) % 1000n
  const iso = new Date(milliseconds).toISOString()
  return finer === 0n ? iso : iso.replace('Z', () => `${finer.toString().padStart(3, '0')}Z`)
}

/** DuckDB's own text has years beyond the range of Date. */
function dayText(value: DuckDBDateValue): string {
  if (value.isFinite) return value.toString()
  return value.days < 0 ? '-infinity' : 'infinity'
}

export function plainValue(value: DuckDBValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue) return isoTime(value)
  if (value instanceof DuckDBDateValue) return dayText(value)
  if (value instanceof DuckDBDecimalValue) return value.toString()
  if (value instanceof DuckDBListValue) return value.items.map(plainValue)
  return value !== null && typeof value === 'object' ? value.toString() : value
}

/** Decimals as text, 64-bit integers as numbers where exact, dates as YYYY-MM-DD, timestamps as ISO 8601 UTC. */
export function plainRow(row: Record<string, DuckDBValue>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]))
}
