/** Derives titles, units and number formats of columns from their names: what a BI tool shows instead of `net_hours`. */

import { isAmount } from '../marts/columns.ts'

const capitals: ReadonlySet<string> = new Set([
  'id',
  'awr',
  'wtr',
  'fte',
  'vat',
  'msp',
  'sds',
  'iso',
  'uk',
  'api',
  'dso',
])

/** `net_hours` is Net hours; `agency_name` is Agency. */
export function titleOf(name: string): string {
  const words = name.replace(/_name$/, '').split('_')
  const spoken = words.map(word => (capitals.has(word) ? word.toUpperCase() : word)).join(' ')
  return `${spoken.charAt(0).toUpperCase()}${spoken.slice(1)}`
}

export type MetricUnit = 'currency' | 'hours' | 'days' | 'weeks' | 'share' | 'count' | 'number'

/** The unit of a number with this name and type; a ratio has the unit share. */
export function unitOf(name: string, type: string): MetricUnit {
  if (/_(share|ratio)$/.test(name)) return 'share'
  if (name.endsWith('_value')) return 'currency'
  if (/(^|_)hours(_|$)/.test(name)) return 'hours'
  if (/(^|_)days(_|$)/.test(name)) return 'days'
  if (/^(integer|bigint)/.test(type)) return /(^|_)weeks(_|$)/.test(name) ? 'weeks' : 'count'
  return isAmount(name) ? 'currency' : 'number'
}

/** Formats of d3, which Superset uses too. */
const formats: Readonly<Record<MetricUnit, string>> = {
  currency: ',.2f',
  hours: ',.1f',
  days: ',.1f',
  weeks: ',.0f',
  share: '.1%',
  count: ',.0f',
  number: ',.2f',
}

export const formatOf = (unit: MetricUnit): string => formats[unit]
