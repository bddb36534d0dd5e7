/** Stored timesheets: those of a place and time, and those with some ids wherever they are. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Sheet } from './sheet.ts'

/** Days are UTC, both included. */
export interface Look {
  readonly company?: string | undefined
  readonly project?: string | undefined
  readonly agency?: string | undefined
  readonly from: string
  readonly to: string
}

export interface StoredSheet extends Sheet {
  readonly isDeleted: boolean
  readonly copies: number
}

type Reader = Pick<Engine, 'rows'>

interface Row {
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

const conditions = ({ from, to, ...place }: Look): string =>
  [
    `t.week_ending_at >= cast('${from}' as timestamptz)`,
    `t.week_ending_at < cast('${to}' as timestamptz) + interval '1 day'`,
    ...Object.entries(place).flatMap(([key, id]) =>
      id === undefined ? [] : [`t.${key}_id = ${quoteText(id)}`],
    ),
  ].join(' and ')

/** By id; rows of one id are one sheet with copies. */
async function storedSheets(
  engine: Reader,
  { hoursField }: Pick<MetricDefinition, 'hoursField'>,
  where: string,
): Promise<Map<string, StoredSheet>> {
  const rows = await engine.rows<Row>(
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

const sheetOf = (row: Row): Sheet => ({
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

const inLook = (look: Look): string => `not t.is_deleted and ${conditions(look)}`

export const sheetsIn = (
  engine: Reader,
  look: Look,
  definition: Pick<MetricDefinition, 'hoursField'>,
): Promise<Map<string, StoredSheet>> => storedSheets(engine, definition, inLook(look))

const idsTogether = 1000

export async function sheetsById(
  engine: Reader,
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

export async function countSheets(engine: Reader, look: Look): Promise<number> {
  const rows = await engine.rows<{ n: number }>(
    `select count(*) as n from star.fact_timesheet as t where ${inLook(look)}`,
  )
  return Number(rows[0]?.n)
}
