/**
 * Reads timesheets, stored or as the service lists them, with the hours that count. Stored ones are found by place
 * and time, or by id in any place.
 */

import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { isInRange, periodKeys } from '../metrics/periods.ts'
import type { Contribution } from './finding.ts'
import { refId } from './requisitions.ts'

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

type ListedSheet = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const listedFields: Readonly<Record<MetricDefinition['hoursField'], string>> = {
  netHours:
    'id,reference,status,netHours,weekEnding,createdAt,updatedAt,worker.id,company.id,project.id,agency.id',
  timelogHours:
    'id,reference,status,timelogs,weekEnding,createdAt,updatedAt,worker.id,company.id,project.id,agency.id',
}

function hoursOf(row: ListedSheet, field: MetricDefinition['hoursField']): number | null {
  if (field === 'netHours') return typeof row.netHours === 'number' ? row.netHours : null
  const logs = (row.timelogs ?? []) as readonly { readonly hours?: { readonly total?: number } }[]
  return logs.reduce((sum, { hours }) => sum + (hours?.total ?? 0), 0)
}

export function listedSheet(row: ListedSheet, { hoursField }: MetricDefinition): Sheet {
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

/** Describes what differs; empty when both count the same. */
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
export function countedOf(sheet: Sheet, definition: MetricDefinition, range: MetricRange): Contribution[] {
  const { status, weekEnding, company, project, agency, hours } = sheet
  const isCounted = definition.timesheetStatuses.includes(status ?? '')
  if (!isCounted || weekEnding === null) return []
  if (definition.companies !== null && !definition.companies.includes(company)) return []
  const keys = { company, project, agency, ...periodKeys(weekEnding, definition) }
  if (!isInRange({ keys, timeMs: weekEnding }, range, definition)) return []
  return [{ keys, amount: hours ?? 0 }]
}

/** Days are UTC, both included. */
export interface SheetQuery {
  readonly company?: string
  readonly project?: string
  readonly agency?: string
  readonly from: string
  readonly to: string
}

export interface StoredSheet extends Sheet {
  readonly isDeleted: boolean
  readonly copies: number
}

type SheetReader = Pick<Engine, 'rows'>

interface SheetRow {
  readonly timesheet_id: string
  readonly reference: string | null
  readonly status: string | null
  readonly hours: string | number | null
  readonly week_ending_at: string | null
  readonly worker_id: string
  readonly company_id: string
  readonly project_id: string
  readonly agency_id: string
  readonly created_at: string | null
  readonly source_updated_at: string | null
  readonly is_deleted: boolean
}

const logged = `(select coalesce(sum(l.total_hours), 0) from star.fact_timelog as l
  where l.timesheet_id = t.timesheet_id and not l.is_deleted)`

const conditions = ({ from, to, ...place }: SheetQuery): string =>
  [
    `t.week_ending_at >= cast('${from}' as timestamptz)`,
    `t.week_ending_at < cast('${to}' as timestamptz) + interval '1 day'`,
    ...Object.entries(place).map(([key, id]) => `t.${key}_id = ${quoteText(id)}`),
  ].join(' and ')

/** By id; rows with one id become one sheet with copies. */
async function storedSheets(
  engine: SheetReader,
  { hoursField }: Pick<MetricDefinition, 'hoursField'>,
  where: string,
): Promise<Map<string, StoredSheet>> {
  const rows = await engine.rows<SheetRow>(
    `select t.timesheet_id, t.reference, t.status, ${hoursField === 'netHours' ? 't.net_hours' : logged} as hours,
       t.week_ending_at, t.worker_id, t.company_id, t.project_id, t.agency_id, t.created_at, t.source_updated_at,
       t.is_deleted
     from star.fact_timesheet as t where ${where} order by t.timesheet_id`,
  )
  const sheets = new Map<string, StoredSheet>()
  for (const row of rows) {
    const copies = (sheets.get(row.timesheet_id)?.copies ?? 0) + 1
    sheets.set(row.timesheet_id, { ...sheetOf(row), isDeleted: row.is_deleted, copies })
  }
  return sheets
}

const sheetOf = (row: SheetRow): Sheet => ({
  id: row.timesheet_id,
  reference: row.reference,
  status: row.status,
  hours: row.hours === null ? null : Number(row.hours),
  weekEnding: row.week_ending_at === null ? null : Date.parse(row.week_ending_at),
  worker: row.worker_id,
  company: row.company_id,
  project: row.project_id,
  agency: row.agency_id,
  createdAt: row.created_at,
  updatedAt: row.source_updated_at,
})

const inLook = (look: SheetQuery): string => `not t.is_deleted and ${conditions(look)}`

export const sheetsIn = (
  engine: SheetReader,
  look: SheetQuery,
  definition: Pick<MetricDefinition, 'hoursField'>,
): Promise<Map<string, StoredSheet>> => storedSheets(engine, definition, inLook(look))

const idsTogether = 1000

export async function sheetsById(
  engine: SheetReader,
  ids: readonly string[],
  definition: Pick<MetricDefinition, 'hoursField'>,
): Promise<Map<string, StoredSheet>> {
  const found = new Map<string, StoredSheet>()
  for (let from = 0; from < ids.length; from += idsTogether) {
    const some = ids.slice(from, from + idsTogether).map(quoteText)
    const sheets = await storedSheets(engine, definition, `t.timesheet_id in (${some.join(', ')})`)
    for (const [id, sheet] of sheets) found.set(id, sheet)
  }
  return found
}

export async function countSheets(engine: SheetReader, look: SheetQuery): Promise<number> {
  const [counted] = await engine.rows<{ n: number }>(
    `select count(*) as n from star.fact_timesheet as t where ${inLook(look)}`,
  )
  return Number((counted as { n: number }).n)
}
