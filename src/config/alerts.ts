/** Declares the alerts of a connection: a measure, a filter and a condition; reads the last two from their text. */
import * as z from 'zod'
import { didYouMean } from '../lib/text/nearest.ts'
import { type Severity, severity } from './notify.ts'

/** The settings `condition` of an alert that compares with earlier weeks. */
const usualRange = 'outside its usual range'

const numberText = /^-?\d+(\.\d+)?$/

export type AlertCondition =
  | { readonly kind: 'limit'; readonly operator: string; readonly limit: number }
  | { readonly kind: 'range' }

function readCondition(text: string): AlertCondition | undefined {
  if (text.trim() === usualRange) return { kind: 'range' }
  const [, operator, limit = ''] = /^(>=?|<=?) ?(\S+)$/.exec(text.trim()) ?? []
  return operator !== undefined && numberText.test(limit)
    ? { kind: 'limit', operator, limit: Number(limit) }
    : undefined
}

/** One comparison of a filter; a flag has no value. */
export interface FilterTerm {
  readonly column: string
  readonly operator: string
  readonly value: string | number | boolean
}

/** `is_over_threshold and net_hours > 48 and agency_name <> 'Acme'`; undefined for any other text. */
function readFilter(text: string): FilterTerm[] | undefined {
  const terms = text.split(/ and (?=(?:[^']*'[^']*')*[^']*$)/).map(term => {
    const [, not, flag] = /^(not )?(\w+)$/.exec(term.trim()) ?? []
    if (flag !== undefined) return { column: flag, operator: '=', value: not === undefined }
    const [, column, operator, value = ''] = /^(\w+) ?(=|<>|>=|<=|>|<) ?(\S.*)$/.exec(term.trim()) ?? []
    if (column === undefined || operator === undefined) return undefined
    if (numberText.test(value)) return { column, operator, value: Number(value) }
    const [, quoted] = /^'([^']*)'$/.exec(value) ?? []
    return quoted === undefined && !/^[\w-]+$/.test(value)
      ? undefined
      : { column, operator, value: quoted ?? value }
  })
  const read = terms.filter(term => term !== undefined)
  return read.length === terms.length ? read : undefined
}

const filterRule = `must be comparisons joined by and, as in age_days > 14 and currency = 'GBP'`

const alert = z.strictObject({
  measure: z
    .string()
    .regex(/^\w+\.\w+$/, 'must be MART.MEASURE, as in worker_week.records')
    .describe('MART.MEASURE, as muster docs lists them; records counts rows.'),
  filter: z
    .string()
    .refine(text => readFilter(text) !== undefined, filterRule)
    .optional()
    .describe('Only these rows: columns of the mart compared with values, joined by and.'),
  condition: z
    .string()
    .refine(text => readCondition(text) !== undefined, {
      error: ({ input }) =>
        `must be > NUMBER, >= NUMBER, < NUMBER, <= NUMBER or ${usualRange}${didYouMean(String(input), [usualRange])}`,
    })
    .describe(`> NUMBER, >= NUMBER, < NUMBER, <= NUMBER, or ${usualRange}.`),
  severity: severity.optional().describe('By default that of notify.types.alert.'),
})

export const alertKeys = Object.keys(alert.shape)

export const alerts = z
  .record(z.string().regex(/^[\w-]{1,60}$/, 'must be letters, digits, _ and -, at most 60'), alert)
  .describe('Alerts by name, evaluated after each build; `muster alerts` lists what fired.')

export interface AlertSettings {
  readonly name: string
  readonly mart: string
  /** Name of the measure in the semantic catalogue. */
  readonly measure: string
  readonly filter: readonly FilterTerm[]
  readonly condition: AlertCondition
  /** As it is written. */
  readonly conditionText: string
  readonly severity?: Severity
}

export function alertsOf(raw: z.infer<typeof alerts> = {}): AlertSettings[] {
  return Object.entries(raw).flatMap(([name, { measure: place, filter = '', condition, severity }]) => {
    const [mart = '', measure = ''] = place.split('.')
    const read = readCondition(condition)
    const terms = filter.trim() === '' ? [] : readFilter(filter)
    const more = severity === undefined ? {} : { severity }
    return read && terms
      ? [{ name, mart, measure, filter: terms, condition: read, conditionText: condition.trim(), ...more }]
      : []
  })
}
