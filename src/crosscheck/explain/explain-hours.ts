/** Finds the timesheets behind a difference in hours: compares the service's own list with what is stored. */
import { utcDay } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Keys, PartyNames } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import type { Explanation } from './explain-fill.ts'
import type { CrosscheckFinding, DifferingCell, FindingKind } from './finding.ts'
import {
  countedOf,
  differences,
  listedFields,
  listedSheet,
  type Sheet,
  type SheetQuery,
  type StoredSheet,
} from './sheets.ts'
import type { ExplanationContext, StoredRecords } from './stored-records.ts'

const rowsPerPage = 200

/** Extra days on either side, as the service's days and ranges may be unclear. */
const slackDays = 3

const firstDay = '1970-01-01'
const lastDay = '2100-01-01'

function daysOf({ week, month }: Keys, { from, to }: MetricRange): Pick<SheetQuery, 'from' | 'to'> {
  if (week !== undefined) return { from: utcDay(week, -slackDays), to: utcDay(week, 7 + slackDays) }
  if (month !== undefined)
    return { from: utcDay(`${month}-01`, -slackDays), to: utcDay(`${month}-01`, 31 + slackDays) }
  return {
    from: from === undefined ? firstDay : utcDay(from, -slackDays),
    to: to === undefined ? lastDay : utcDay(to, slackDays),
  }
}

/** Filters by known ids only. */
function sheetScopeOf(keys: Keys, names: PartyNames): Omit<SheetQuery, 'from' | 'to'> {
  const known = (['company', 'project', 'agency'] as const).flatMap(key => {
    const id = keys[key] ?? ''
    return names[key].has(id) ? [[key, id]] : []
  })
  return Object.fromEntries(known)
}

export const lookAt = (keys: Keys, range: MetricRange, names: PartyNames): SheetQuery => ({
  ...sheetScopeOf(keys, names),
  ...daysOf(keys, range),
})

/** One query that covers others; it keeps the project if they share one. */
function combinedQuery(looks: readonly SheetQuery[]): SheetQuery {
  const projects = new Set(looks.map(({ project }) => project))
  const project = projects.size === 1 ? [...projects][0] : undefined
  const days = (key: 'from' | 'to'): string[] => looks.map(look => look[key]).sort()
  return {
    ...(project !== undefined && { project }),
    from: days('from')[0] as string,
    to: days('to').at(-1) as string,
  }
}

/** Queries each cell, each project, or everything at once, whichever is cheapest. */
export async function cheapestLooks(
  stored: Pick<StoredRecords, 'countSheets'>,
  cells: readonly DifferingCell[],
  lookOf: (keys: Keys) => SheetQuery,
): Promise<readonly SheetQuery[]> {
  const each = cells.map(({ keys }) => lookOf(keys))
  if (each.length <= 1) return each
  const pages = async (looks: readonly SheetQuery[]): Promise<number> => {
    let sum = 0
    for (const look of looks) sum += Math.max(1, Math.ceil((await stored.countSheets(look)) / rowsPerPage))
    return sum
  }
  const byProject = [...new Set(each.map(({ project }) => project))].map(project =>
    combinedQuery(each.filter(look => look.project === project)),
  )
  let best: readonly SheetQuery[] = [combinedQuery(each)]
  let min = await pages(best)
  for (const looks of [byProject, each]) {
    // Each look costs at least one request, so a plan with this many looks cannot be cheaper.
    if (looks.length >= min) continue
    const cost = await pages(looks)
    if (cost < min) [best, min] = [looks, cost]
  }
  return best
}

interface SheetLists {
  readonly listed: Map<string, Sheet>
  /** Stored timesheets of the places and times whose lists were read completely. */
  readonly expected: Map<string, StoredSheet>
}

/** Costs one request per 200 timesheets, and one more for each that the service does not list. */
export async function explainHours(
  explaining: ExplanationContext,
  cells: readonly DifferingCell[],
): Promise<Explanation> {
  const { stored, names, range } = explaining
  const looks = await cheapestLooks(stored, cells, (keys: Keys) => lookAt(keys, range, names))
  const lists: SheetLists = { listed: new Map(), expected: new Map() }
  let isComplete = true
  try {
    for (const look of looks) isComplete = (await readLook(explaining, look, lists)) && isComplete
    await searchUnlisted(explaining, lists)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    isComplete = false
    // Unlisted timesheets that could not be searched for may have moved.
    lists.expected.clear()
  }
  return { findings: await compareLists(explaining, lists), isComplete }
}

const query = ({ definition }: ExplanationContext) => ({
  fields: listedFields[definition.hoursField],
  ...(definition.hoursField === 'timelogHours' && { includeTimelogs: 'true' }),
})

async function readLook(
  explaining: ExplanationContext,
  { from, to, ...place }: SheetQuery,
  { listed, expected }: SheetLists,
): Promise<boolean> {
  const { stored, asker, definition } = explaining
  const days = { dateField: 'weekEnding', from, to }
  const { rows, isComplete } = await asker.list(
    '/timesheets',
    { ...query(explaining), ...place, ...days },
    asker.left,
  )
  for (const row of rows) listed.set(String(row.id), listedSheet(row, definition))
  if (!isComplete) return false
  // One day less on either side, as the service decides what a range of days contains.
  const here = await stored.sheetsIn({ ...place, ...inner(from, to) }, definition)
  for (const [id, sheet] of here) expected.set(id, sheet)
  return true
}

/** An unlisted timesheet may have moved to another place in the service. Leaves it open if it cannot be searched for. */
async function searchUnlisted(
  explaining: ExplanationContext,
  { listed, expected }: SheetLists,
): Promise<void> {
  const { asker, definition } = explaining
  for (const [id, { reference }] of expected) {
    if (listed.has(id)) continue
    const found =
      reference === null
        ? undefined
        : await asker.list('/timesheets', { ...query(explaining), query: reference }, maxSearchPages)
    const row = found?.rows.find(one => String(one.id) === id)
    if (row) listed.set(id, listedSheet(row, definition))
    else if (!found?.isComplete) expected.delete(id)
  }
}

/** Max pages when searching for one reference: longer references may contain it. */
const maxSearchPages = 3

/** A day less on either side. */
const inner = (from: string, to: string): Pick<SheetQuery, 'from' | 'to'> => ({
  from: utcDay(from, 1),
  to: utcDay(to, -1),
})

async function compareLists(
  explaining: ExplanationContext,
  { listed, expected }: SheetLists,
): Promise<CrosscheckFinding[]> {
  const { definition } = explaining
  const stored = await explaining.stored.sheetsById([...listed.keys()], definition)
  const quarantined = await explaining.stored.quarantinedSheets()
  const found = [...listed].flatMap(([id, sheet]) =>
    findingOf({ stored: stored.get(id), sheet, isQuarantined: quarantined.has(id) }, explaining),
  )
  const deleted = [...expected]
    .filter(([id]) => !listed.has(id))
    .map(([, sheet]): CrosscheckFinding => {
      const words = 'the service no longer lists it'
      return finding({ sheet, kind: 'deleted', words }, { ours: ourHours(sheet, explaining), theirs: [] })
    })
  return [...found, ...deleted]
}

interface SheetPair {
  readonly stored: StoredSheet | undefined
  readonly sheet: Sheet
  readonly isQuarantined: boolean
}

function ourHours(stored: StoredSheet | undefined, { definition, range }: ExplanationContext) {
  if (!stored || stored.isDeleted) return []
  return Array.from({ length: stored.copies }).flatMap(() => countedOf(stored, definition, range))
}

function findingOf(
  { stored, sheet, isQuarantined }: SheetPair,
  explaining: ExplanationContext,
): CrosscheckFinding[] {
  const { definition, range, watermark } = explaining
  const sides = { ours: ourHours(stored, explaining), theirs: countedOf(sheet, definition, range) }
  const parts = stored ? differences(stored, sheet) : []
  const isCounted = sides.ours.length > 0 || sides.theirs.length > 0
  const isWrong = !stored || stored.isDeleted || stored.copies > 1 || parts.length > 0
  if (!isCounted || !isWrong) return []
  // A sync cannot bring a version that is already stored, regardless of its time.
  const isNews =
    isLater(sheet.updatedAt, watermark) && (!stored || isLater(sheet.updatedAt, stored.updatedAt))
  if (isQuarantined) return [finding({ sheet, kind: 'quarantined', words: 'it is in quarantine' }, sides)]
  if (isNews) return [finding({ sheet, kind: 'newer', words: newerWords(parts) }, sides)]
  const [kind, words] = lossOf(stored, sheet, parts)
  const { id, createdAt, updatedAt } = sheet
  // Reading the record again would not remove a second row.
  const isRepairable = !stored || stored.copies === 1
  const loss = isRepairable && { loss: { resource: 'timesheets', id, createdAt, updatedAt } }
  return [{ ...finding({ sheet, kind, words }, sides), ...loss }]
}

const newerWords = (parts: readonly string[]): string =>
  [...parts, parts.length === 0 ? 'newer than the watermark' : 'changed since it was read'].join(', ')

function lossOf(
  stored: StoredSheet | undefined,
  sheet: Sheet,
  parts: readonly string[],
): [FindingKind, string] {
  if (!stored) return ['lost', 'not stored, although older than the watermark']
  if (stored.isDeleted) return ['lost', 'marked as deleted here, but the service lists it']
  if (stored.copies > 1) return ['differs', `it is stored ${stored.copies} times: run muster replay`]
  const isMissed = isLater(sheet.updatedAt, stored.updatedAt)
  return [
    'differs',
    [...parts, isMissed ? 'a change that was never fetched' : 'in the same version'].join(', '),
  ]
}

/** True when there is no time to compare with. */
const isLater = (time: string | null, than: string | null | undefined): boolean =>
  than === null || than === undefined || Date.parse(time ?? '') > Date.parse(than)

function finding(
  { sheet, kind, words }: { readonly sheet: Sheet; readonly kind: FindingKind; readonly words: string },
  sides: Pick<CrosscheckFinding, 'ours' | 'theirs'>,
): CrosscheckFinding {
  const record = sheet.reference ?? sheet.id
  return {
    ...{ metric: 'workersOverHours', kind, record, changedAt: sheet.updatedAt, ...sides },
    sentence: `timesheet ${record}: ${words}`,
  }
}
