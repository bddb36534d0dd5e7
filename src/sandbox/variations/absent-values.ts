/** The option `absent`: an optional field without a value is null, left out, or drawn to be one of the two. */
import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import type { Rng } from '../../lib/rng.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import type { StoredRecord } from '../records/record.ts'

interface Absence {
  /** Whether a null is left out, and whether a missing field becomes null: always, never, or as drawn. */
  readonly omits: (draw: Rng) => boolean
  readonly fills: (draw: Rng) => boolean
}

const never = () => false
const always = () => true
const evenly = (draw: Rng) => draw() < 0.5

export const absences: Readonly<Record<'null' | 'omitted' | 'random', Absence>> = {
  null: { omits: never, fills: always },
  omitted: { omits: always, fills: never },
  random: { omits: evenly, fills: evenly },
}

interface Asked {
  readonly endpoint: Pick<Endpoint, 'returns' | 'onRequest'>
  readonly query: unknown
}

interface Drawing {
  readonly absence: Absence
  readonly draw: Rng
}

/** A copy in which nulls were left out and declared fields filled in, besides those that only a parameter brings. */
export function withAbsence(
  record: StoredRecord,
  { endpoint: { returns, onRequest }, query }: Asked,
  drawing: Drawing,
): StoredRecord {
  // A caller that selected fields gets those and no others.
  const hasSelected = (query as StoredRecord | undefined)?.fields !== undefined
  return objectWith(record, hasSelected ? undefined : returns.shape, { ...drawing, skipped: onRequest ?? [] })
}

function valueWith(value: unknown, shape: ShapeNode | undefined, drawing: Drawing): unknown {
  if (Array.isArray(value)) {
    const element = shape?.kind === 'list' ? shape.element : undefined
    return value.map(item => valueWith(item, element, drawing))
  }
  return typeof value === 'object' && value !== null
    ? objectWith(value as StoredRecord, shape, { ...drawing, skipped: [] })
    : value
}

function objectWith(
  record: StoredRecord,
  shape: ShapeNode | undefined,
  drawing: Drawing & { readonly skipped: readonly string[] },
): StoredRecord {
  const { absence, draw, skipped } = drawing
  const fields = shape?.kind === 'object' ? shape.fields : new Map<string, ShapeNode>()
  const result: StoredRecord = {}
  for (const [name, inner] of Object.entries(record)) {
    if (inner === null && absence.omits(draw)) continue
    if (inner !== undefined) result[name] = valueWith(inner, fields.get(name), drawing)
  }
  for (const name of fields.keys()) {
    const isMissing = record[name] === undefined
    if (isMissing && !skipped.includes(name) && absence.fills(draw)) result[name] = null
  }
  return result
}
