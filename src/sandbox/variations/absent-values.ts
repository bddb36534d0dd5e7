/** The option `absent`: an optional field without a value is sent as null, left out, or now so and now so. */

import { catalogue } from '../../contract/catalogue.ts'
import { type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Rng } from '../../lib/rng.ts'
import type { StoredRecord } from '../records/record.ts'

/** Fields that come only with their `include` parameter: without it they are not optional but not asked for. */
const onRequest = new Set(['config', 'timelogs', 'rates', 'competencyMatrix', 'stageTracking'])

const shapes = new Map(catalogue.map(resource => [routeOf(resource.path), shapeOf(resource.table)] as const))

function routeOf(path: string): string {
  return path.replace(/\{\w+\}|:\w+/g, '*')
}

/** What Muster declares of the records under a path; a record read by id is declared with its list. */
export function declaredShape(path: string): ShapeNode | undefined {
  const route = routeOf(path)
  return shapes.get(route) ?? shapes.get(route.replace(/\/\*$/, ''))
}

export interface Absence {
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

/** A copy of a value in which nulls were left out and declared fields filled in. */
export function withAbsence(
  value: unknown,
  shape: ShapeNode | undefined,
  at: { readonly absence: Absence; readonly draw: Rng },
): unknown {
  if (Array.isArray(value)) {
    const element = shape?.kind === 'list' ? shape.element : undefined
    return value.map(item => withAbsence(item, element, at))
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = shape?.kind === 'object' ? shape.fields : new Map<string, ShapeNode>()
  const result: StoredRecord = {}
  for (const [name, inner] of Object.entries(value)) {
    if (inner === null && at.absence.omits(at.draw)) continue
    if (inner !== undefined) result[name] = withAbsence(inner, fields.get(name), at)
  }
  for (const name of fields.keys()) {
    const isMissing = (value as StoredRecord)[name] === undefined
    if (isMissing && !onRequest.has(name) && at.absence.fills(at.draw)) result[name] = null
  }
  return result
}
