/**
 * Groups measurements by company, project, agency, month and week, in any combination. Computes the day, week and month of
 * an instant in a time zone, and quantiles and rounding, in the ways the service might do it.
 */
import { operations } from '../../contract/operations.ts'
import { dayMs, daysBetween, firstOfMonth, isoWeek, utcDay, weekdayFrom } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { Ref } from '../data/identity.ts'
import { type DayRange, instantRange } from '../declare/list.ts'
import { closed, type JsonSchema, refSchema, refTo } from '../declare/schemas.ts'
import type { ContractOptions } from '../options.ts'

export interface StageTracking {
  readonly worker: Ref
  readonly agency: Ref
  readonly isRejected: boolean
  readonly stage: string
  readonly history: readonly { readonly stage: string; readonly at: string | null }[]
}

/** The fields of a requisition that the metrics read. */
export interface MeasuredRequisition {
  readonly reference: string
  readonly status?: string
  readonly company?: Ref
  readonly project?: Ref
  readonly trade?: Ref
  readonly approvedDate?: string | null
  readonly startDate?: string
  readonly createdAt: string
  readonly agencies?: readonly (Ref & { readonly dateAccepted?: string | null })[]
  readonly stageTracking?: readonly StageTracking[]
}

/** The fields of a timesheet that the metrics read. */
export interface MeasuredTimesheet {
  readonly status?: string
  readonly worker?: Ref
  readonly company?: Ref
  readonly project?: Ref
  readonly agency?: Ref
  readonly weekEnding?: string
  readonly netHours?: number
  readonly timelogs?: readonly { readonly hours?: { readonly total?: number } }[]
}

const groupKeys = operations.timeToFill.parameters.groupBy.some
type GroupKey = (typeof groupKeys)[number]

/** A company, project or agency in one of several forms, or the text of a week or month. */
const groupValue: JsonSchema = { anyOf: [refTo(refSchema), { type: ['string', 'null'] }] }

export const groupSchema = closed(
  Object.fromEntries(groupKeys.filter(key => key !== 'all').map(key => [key, groupValue])),
  { required: [], description: 'The keys of the group; empty when everything is one group.' },
)

export interface GroupQuery extends DayRange {
  readonly groupBy: readonly GroupKey[]
  /** Ids; all agencies when absent. */
  readonly agencies?: readonly string[] | undefined
}

export interface GroupMember {
  readonly company?: Ref | undefined
  readonly project?: Ref | undefined
  readonly agency?: Ref | undefined
  /** The time that `from`, `to`, months and weeks apply to. */
  readonly atMs: number
}

interface KeyPart {
  readonly label: string
  readonly value: unknown
}

/**
 * Sorted by name, month and week, key by key; no group is empty. `group` has one property for each key. `all` beside
 * another key has no effect.
 */
export function grouped<T extends GroupMember>(
  members: readonly T[],
  { groupBy: by, agencies, ...days }: GroupQuery,
  options: ContractOptions,
) {
  const isInRange = instantRange(days, options)
  const keys = by.filter(key => key !== 'all')
  const counted = members.filter(
    ({ atMs, agency }) => isInRange(atMs) && agencies?.includes(agency?.id ?? '') !== false,
  )
  const groups = groupBy(counted, member => JSON.stringify(keys.map(key => partOf(member, key, options))))
  return [...groups]
    .map(([name, own]) => ({ parts: JSON.parse(name) as KeyPart[], members: own }))
    .sort((left, right) => (sortKey(left.parts) < sortKey(right.parts) ? -1 : 1))
    .map(({ parts, members: own }) => {
      const group = Object.fromEntries(keys.map((key, index) => [key, parts[index]?.value]))
      return { group, members: own }
    })
}

/** NUL is smaller than any character of a label. */
const sortKey = (parts: readonly KeyPart[]) => parts.map(({ label }) => label).join('\0')

function partOf(member: GroupMember, key: Exclude<GroupKey, 'all'>, options: ContractOptions): KeyPart {
  if (key === 'month' || key === 'week') {
    const value = key === 'month' ? monthKey(member.atMs, options) : weekKey(member.atMs, options)
    return { label: value, value }
  }
  const ref = member[key]
  if (!ref) return { label: '', value: null }
  const { id, name } = ref
  const form = options['group-ref']
  return { label: `${name} ${id}`, value: form === 'ref' ? { id, name } : ref[form] }
}

type FigureMethod = ContractOptions['quantiles']

/** Positions from 0; between two whole positions the value is interpolated. */
const positions: Partial<Record<FigureMethod, (count: number, share: number) => number>> = {
  type7: (count, share) => (count - 1) * share,
  type6: (count, share) => (count + 1) * share - 1,
  type5: (count, share) => count * share - 0.5,
  type8: (count, share) => (count + 1 / 3) * share - 2 / 3,
}

/** `sorted` is ascending and not empty; `share` lies in [0, 1]. */
export function quantile(sorted: readonly number[], share: number, method: FigureMethod): number {
  const at = (index: number) => sorted[Math.min(sorted.length - 1, Math.max(0, index))] as number
  const position = positions[method]?.(sorted.length, share)
  if (position !== undefined) {
    const lower = Math.floor(position)
    return at(lower) + (position - lower) * (at(lower + 1) - at(lower))
  }
  const rank = sorted.length * share
  const above = at(Math.ceil(rank) - 1)
  return method === 'type2' && Number.isInteger(rank) ? (above + at(rank)) / 2 : above
}

export function rounded(value: number, { decimals }: ContractOptions): number {
  if (decimals === 'none') return value
  const factor = 10 ** decimals
  return Math.round(value * factor) / factor
}

function dayOf(timeMs: number, zone: string): string {
  return utcDay(timeMs + shiftOf(zone)(timeMs))
}

/** Number of midnights from one instant to the other. */
export function calendarDays(fromMs: number, toMs: number, zone: string): number {
  return daysBetween(dayOf(fromMs, zone), dayOf(toMs, zone))
}

export function daysToFill(fromMs: number, toMs: number, options: ContractOptions): number {
  const unit = options['fill-days']
  const days = (toMs - fromMs) / dayMs
  if (unit === 'fractional') return days
  if (unit === 'floor' || unit === 'ceil' || unit === 'round') return Math[unit](days)
  const zone = { calendarUtc: 'UTC', calendarLondon: 'Europe/London', calendarZone: options['day-zone'] }[
    unit
  ]
  return calendarDays(fromMs, toMs, zone)
}

/** Days from Monday to the first day of the week. */
const firstDays = { monday: 0, sunday: 6, saturday: 5 } as const

/** First day of the week. */
export function weekStarting(timeMs: number, options: ContractOptions): string {
  const day = dayOf(timeMs, options['day-zone'])
  return utcDay(weekdayFrom(utcDay(day, -6), firstDays[options['week-start']]))
}

/** A week has the ISO week of its fourth day. */
function weekKey(timeMs: number, options: ContractOptions): string {
  const first = weekStarting(timeMs, options)
  return options['week-key'] === 'firstDay' ? first : isoWeek(utcDay(first, 3))
}

function monthKey(timeMs: number, options: ContractOptions): string {
  const day = dayOf(timeMs, options['day-zone'])
  return options['month-key'] === 'firstDay' ? firstOfMonth(day) : day.slice(0, 7)
}

/** The format of metric rows; empty for a stage that was not reached. */
export function dayMonthYear(timeMs: number | undefined, zone: string): string {
  if (timeMs === undefined) return ''
  const [year, month, day] = dayOf(timeMs, zone).split('-')
  return `${day}/${month}/${year}`
}
