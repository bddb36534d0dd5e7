/** A timesheet, stored or as the service lists it, and the hours that count of it. */
import type { MetricDefinition } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { isInRange, periodKeys } from '../metrics/periods.ts'
import type { Counted } from './finding.ts'
import { refId } from './requisition.ts'

export interface Sheet {
  readonly id: string
  readonly reference: string | null
  readonly status: string | null
  readonly hours: number | null
  /** Milliseconds, so that its spelling is irrelevant. */
  readonly weekEnding: number | null
  readonly worker: string
  readonly company: string
  readonly project: string
  readonly agency: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/** Fields that decide whether, where and how much a timesheet counts. */
const compared = ['status', 'hours', 'weekEnding', 'worker', 'company', 'project', 'agency'] as const

type Listed = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const listedFields: Readonly<Record<MetricDefinition['hoursField'], string>> = {
  netHours:
    'id,reference,status,netHours,weekEnding,createdAt,updatedAt,worker.id,company.id,project.id,agency.id',
  timelogHours:
    'id,reference,status,timelogs,weekEnding,createdAt,updatedAt,worker.id,company.id,project.id,agency.id',
}

function hoursOf(row: Listed, field: MetricDefinition['hoursField']): number | null {
  if (field === 'netHours') return typeof row.netHours === 'number' ? row.netHours : null
  const logs = (row.timelogs ?? []) as readonly { readonly hours?: { readonly total?: number } }[]
  return logs.reduce((sum, { hours }) => sum + (hours?.total ?? 0), 0)
}

export function listedSheet(row: Listed, { hoursField }: MetricDefinition): Sheet {
  const weekEnding = Date.parse(String(row.weekEnding))
  return {
    id: String(row.id),
    reference: textOf(row.reference),
    status: textOf(row.status),
    hours: hoursOf(row, hoursField),
    weekEnding: Number.isNaN(weekEnding) ? null : weekEnding,
    worker: refId(row.worker),
    company: refId(row.company),
    project: refId(row.project),
    agency: refId(row.agency),
    createdAt: textOf(row.createdAt),
    updatedAt: textOf(row.updatedAt),
  }
}

const isSame = (left: unknown, right: unknown): boolean =>
  typeof left === 'number' && typeof right === 'number' ? Math.abs(left - right) < 1e-6 : left === right

/** What differs, in words; nothing when the two count the same. */
export function differences(ours: Sheet, theirs: Sheet): string[] {
  const show = (name: string, value: unknown): string =>
    name === 'weekEnding' && typeof value === 'number'
      ? new Date(value).toISOString()
      : String(value ?? 'none')
  return compared
    .filter(name => !isSame(ours[name], theirs[name]))
    .map(name => `${name} ${show(name, ours[name])} here, ${show(name, theirs[name])} there`)
}

/** The same rules as in sql/part/over_hours_sheets.sql, for one record. */
export function countedOf(sheet: Sheet, definition: MetricDefinition, range: MetricRange): Counted[] {
  const { status, weekEnding, company, project, agency, hours } = sheet
  const isCounted = definition.timesheetStatuses.includes(status ?? '')
  if (!isCounted || weekEnding === null) return []
  if (definition.companies !== null && !definition.companies.includes(company)) return []
  const keys = { company, project, agency, ...periodKeys(weekEnding, definition) }
  if (!isInRange({ keys, timeMs: weekEnding }, range, definition)) return []
  return [{ keys, amount: hours ?? 0 }]
}
