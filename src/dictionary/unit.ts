/** In what a value is measured, as far as its kind, its name or its description says. */
import type { ColumnType } from '../contract/fields/column.ts'

const ofKind: Partial<Record<ColumnType, string>> = {
  money: 'currency of the company',
  coordinate: 'degrees',
  timestamp: 'UTC',
}

const measures = ['hours', 'days', 'weeks', 'months', 'years', 'minutes', 'seconds', 'miles', 'percent']

const numeric = /^(numeric|bigint|integer|double)/

/** `net_hours` is hours, `hours_over` too; `day_of_week_iso` is none. */
function inName(name: string): string | undefined {
  const words = name.split('_')
  return measures.find(measure => words.includes(measure))
}

const inWords = (description: string): string | undefined =>
  /\bin (hours|days|weeks|months|years|minutes|seconds|miles|percent|the currency of the company)\b/
    .exec(description)?.[1]
    ?.replace(/^the /, '')

export interface Measured {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly kind?: ColumnType
  /** Units of what it is computed from. */
  readonly inherited: readonly (string | undefined)[]
}

export function unitOf({ name, type, description, kind, inherited }: Measured): string | undefined {
  if (type === 'timestamptz') return 'UTC'
  if (!numeric.test(type)) return undefined
  if (kind && ofKind[kind]) return ofKind[kind]
  if (name.endsWith('_length')) return 'characters'
  if (/_(share|ratio|fraction)$/.test(name)) return undefined
  const said = inWords(description) ?? inName(name)
  if (said) return said
  // A ratio of amounts is no amount; sums and differences of them are.
  const [first] = inherited
  const isAmount =
    type.startsWith('numeric') && first !== undefined && inherited.every(unit => unit === first)
  return isAmount && first !== 'UTC' ? first : undefined
}
