/** Finds the timesheets behind a difference in hours: compares each differing cell with the service's own list. */
import { utcDay } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { Keys } from '../metrics/group-keys.ts'
import type { Explaining, Finding } from './finding.ts'

interface Cell {
  readonly keys: Keys
}

interface StoredSheet {
  readonly timesheet_id: string
  readonly reference: string | null
  readonly status: string | null
  readonly net_hours: string | number | null
  readonly week_ending_at: string
  readonly worker_id: string
  readonly source_updated_at: string | null
}

type Listed = Readonly<Record<string, unknown>>

/** Two thousand timesheets of a cell; in a larger cell, unlisted timesheets are not reported as deleted. */
const mostPages = 10

/** A day more on either side, as the definition of days and ranges may itself be unclear. */
function weekAround(week: string): { from: string; to: string } {
  return { from: utcDay(week, -1), to: utcDay(week, 8) }
}

async function storedSheets(engine: Engine, { project, agency, week }: Keys): Promise<StoredSheet[]> {
  const { from, to } = weekAround(week ?? '')
  return engine.rows<StoredSheet>(
    `select timesheet_id, reference, status, net_hours, week_ending_at, worker_id, source_updated_at
     from star.fact_timesheet where not is_deleted and project_id = ${quoteText(project ?? '')}
     and agency_id = ${quoteText(agency ?? '')} and week_ending_at >= cast('${from}' as timestamptz)
     and week_ending_at < cast('${to}' as timestamptz)`,
  )
}

/** Fields that decide whether and how much a timesheet counts; times in milliseconds, so that their spelling is irrelevant. */
const fields = ['status', 'hours', 'weekEnding', 'worker'] as const

const ofStored = (sheet: StoredSheet) => ({
  status: sheet.status,
  hours: sheet.net_hours === null ? null : Number(sheet.net_hours),
  weekEnding: Date.parse(sheet.week_ending_at),
  worker: sheet.worker_id,
})

const ofListed = (row: Listed) => ({
  status: row.status ?? null,
  hours: typeof row.netHours === 'number' ? row.netHours : null,
  weekEnding: Date.parse(String(row.weekEnding)),
  worker: (row.worker as { id?: string } | undefined)?.id ?? '-1',
})

function changed(
  stored: StoredSheet,
  row: Listed,
  counted: readonly string[],
): Pick<Finding, 'sentence' | 'effect' | 'kind'> | undefined {
  const [mine, theirs] = [ofStored(stored), ofListed(row)]
  const names = fields.filter(name => mine[name] !== theirs[name])
  if (names.length === 0) return undefined
  const isNewer = Date.parse(String(row.updatedAt)) > Date.parse(stored.source_updated_at ?? '')
  const shown = names.map(name => `${name} ${show(name, mine[name])} here, ${show(name, theirs[name])} there`)
  const hours = (side: { status: unknown; hours: number | null }): number =>
    counted.includes(String(side.status)) ? (side.hours ?? 0) : 0
  return {
    kind: isNewer ? 'newer' : 'differs',
    sentence: `timesheet ${stored.reference ?? stored.timesheet_id}: ${shown.join(', ')}${isNewer ? ', changed since it was read' : ', in the same version'}`,
    effect: hours(theirs) - hours(mine),
  }
}

const show = (name: string, value: unknown): string =>
  name === 'weekEnding' ? utcDay(Number(value)) : String(value ?? 'none')

async function explainCell(
  { engine, asker, definition, watermark }: Explaining,
  { keys }: Cell,
): Promise<Finding[]> {
  const stored = new Map((await storedSheets(engine, keys)).map(sheet => [sheet.timesheet_id, sheet]))
  const query = {
    ...{ project: keys.project ?? '', agency: keys.agency ?? '', dateField: 'weekEnding' },
    ...weekAround(keys.week ?? ''),
    fields: 'id,reference,status,netHours,weekEnding,updatedAt,worker.id',
  }
  const { rows, isWhole } = await asker.list('/timesheets', query, mostPages)
  const base = { metric: 'workersOverHours', cell: keys } as const
  const findings = rows.flatMap((row): Finding[] => {
    const id = String(row.id)
    const own = stored.get(id)
    stored.delete(id)
    if (own) {
      const change = changed(own, row, definition.timesheetStatuses)
      return change ? [{ ...base, record: own.reference ?? id, ...change }] : []
    }
    if (!definition.timesheetStatuses.includes(String(row.status))) return []
    const isNewer = watermark === undefined || String(row.updatedAt) > watermark
    const name = String(row.reference ?? id)
    const kind = isNewer ? 'newer' : 'missing'
    const sentence = `timesheet ${name}: ${isNewer ? 'newer than what was read' : 'not in the warehouse'}`
    return [{ ...base, record: name, kind, sentence, effect: ofListed(row).hours ?? 0 }]
  })
  if (!isWhole) return findings
  return [
    ...findings,
    ...[...stored.values()].flatMap(sheet => deleted(sheet, keys, definition.timesheetStatuses)),
  ]
}

function deleted(sheet: StoredSheet, cell: Keys, counted: readonly string[]): Finding[] {
  if (!counted.includes(sheet.status ?? '')) return []
  const record = sheet.reference ?? sheet.timesheet_id
  const sentence = `timesheet ${record}: the service no longer lists it`
  return [
    {
      metric: 'workersOverHours',
      kind: 'deleted',
      record,
      sentence,
      cell,
      effect: -Number(sheet.net_hours ?? 0),
    },
  ]
}

/** One request for two hundred timesheets of a cell. */
export async function explainHours(explaining: Explaining, cells: readonly Keys[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const keys of cells) findings.push(...(await explainCell(explaining, { keys })))
  return findings
}
