/** A row of the coverage table: a thing the contract names, and the test that shows it. A row without one is no row. */
import { expect } from 'vitest'
import type { Answer, Stand } from './stand.ts'

export const kinds = ['operation', 'parameter', 'field', 'key', 'error', 'limit', 'event'] as const

export interface Row {
  readonly kind: (typeof kinds)[number]
  /** Unique within its kind; the name of its test. */
  readonly what: string
  /** The section of the contract. */
  readonly where: string
  readonly show: (stand: Stand) => Promise<void>
}

/** A refusal has the status, the error body of the contract, and words that say what was wrong. */
export function expectRefusal(
  { status, body }: Answer,
  expected: number,
  reason: string | RegExp = '',
): void {
  expect([status, body?.error?.message]).toEqual([expected, expect.any(String)])
  expect(body.success).toBe(false)
  expect(body.error.code).toEqual(expect.any(String))
  expect(body.error.message).toMatch(reason)
}

/** The values at a path of a record, as texts, through arrays: `projects.name`. */
export function textsAt(value: unknown, path: string): string[] {
  const [step = '', ...rest] = path.split('.')
  if (Array.isArray(value)) return value.flatMap(item => textsAt(item, path))
  if (typeof value !== 'object' || value === null) return []
  const inner = (value as Record<string, unknown>)[step]
  if (rest.length > 0) return textsAt(inner, rest.join('.'))
  return (Array.isArray(inner) ? inner : [inner])
    .filter(item => item !== undefined && item !== null)
    .map(String)
}
