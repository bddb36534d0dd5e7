/** Finds the timesheets behind a difference in hours: compares the service's own list with what is stored. */
import { utcDay } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { Keys } from '../metrics/group-keys.ts'
import type { Found } from './explain-fill.ts'
import type { DifferingCell, Finding, FindingKind } from './finding.ts'
import { countedOf, differences, listedFields, listedSheet, type Sheet } from './sheet.ts'
import { cheapestLooks, lookAt } from './sheet-looks.ts'
import type { Explaining } from './stored-records.ts'
import type { Look, StoredSheet } from './stored-sheets.ts'

interface Lists {
  readonly listed: Map<string, Sheet>
  /** In a place whose list was read whole, and not on it. */
  readonly unlisted: Map<string, StoredSheet>
}

/** One request for two hundred timesheets; one more for each that the service does not list. */
export async function explainHours(explaining: Explaining, cells: readonly DifferingCell[]): Promise<Found> {
  const { stored, names, range } = explaining
  const looks = await cheapestLooks(stored, cells, (keys: Keys) => lookAt(keys, range, names))
  const lists: Lists = { listed: new Map(), unlisted: new Map() }
  let isWhole = true
  try {
    for (const look of looks) isWhole = (await readLook(explaining, look, lists)) && isWhole
    await searchUnlisted(explaining, lists)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    isWhole = false
    // Unlisted timesheets that could not be searched for may have moved.
    lists.unlisted.clear()
  }
  return { findings: await compareLists(explaining, lists), isWhole }
}

const query = ({ definition }: Explaining) => ({
  fields: listedFields[definition.hoursField],
  ...(definition.hoursField === 'timelogHours' && { includeTimelogs: 'true' }),
})

async function readLook(
  explaining: Explaining,
  { from, to, ...place }: Look,
  { listed, unlisted }: Lists,
): Promise<boolean> {
  const { stored, asker, definition } = explaining
  const filters = Object.fromEntries(
    Object.entries(place).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const days = { dateField: 'weekEnding', from, to }
  const { rows, isWhole } = await asker.list(
    '/timesheets',
    { ...query(explaining), ...filters, ...days },
    asker.left,
  )
  for (const row of rows) listed.set(String(row.id), listedSheet(row, definition))
  if (!isWhole) return false
  // A day less: what a range of days contains is the service's choice.
  const here = await stored.sheetsIn({ ...place, ...inner(from, to) }, definition)
  for (const [id, sheet] of here) if (!listed.has(id)) unlisted.set(id, sheet)
  return true
}

/** A timesheet that is not where it is stored may be elsewhere at the service. One that cannot be searched for is left open. */
async function searchUnlisted(explaining: Explaining, { listed, unlisted }: Lists): Promise<void> {
  const { asker, definition } = explaining
  for (const [id, { reference }] of unlisted) {
    if (listed.has(id)) continue
    const { rows, isWhole } =
      reference === null
        ? { rows: [], isWhole: false }
        : await asker.list('/timesheets', { ...query(explaining), query: reference }, mostSearchPages)
    const row = rows.find(one => String(one.id) === id)
    if (row) listed.set(id, listedSheet(row, definition))
    else if (!isWhole) unlisted.delete(id)
  }
}

/** Of a search for one reference, which other references may contain. */
const mostSearchPages = 3

/** A day less on either side. */
const inner = (from: string, to: string): Pick<Look, 'from' | 'to'> => ({
  from: utcDay(from, 1),
  to: utcDay(to, -1),
})

async function compareLists(explaining: Explaining, { listed, unlisted }: Lists): Promise<Finding[]> {
  const { definition } = explaining
  const stored = await explaining.stored.sheetsById([...listed.keys()], definition)
  const quarantined = await explaining.stored.quarantinedSheets()
  const found = [...listed].flatMap(([id, sheet]) =>
    findingOf({ stored: stored.get(id), sheet, isQuarantined: quarantined.has(id) }, explaining),
  )
  const deleted = [...unlisted]
    .filter(([id]) => !listed.has(id))
    .map(([, sheet]): Finding => {
      const words = 'the service no longer lists it'
      return finding({ sheet, kind: 'deleted', words }, { ours: ourHours(sheet, explaining), theirs: [] })
    })
  return [...found, ...deleted]
}

interface Pair {
  readonly stored: StoredSheet | undefined
  readonly sheet: Sheet
  readonly isQuarantined: boolean
}

function ourHours(stored: StoredSheet | undefined, { definition, range }: Explaining) {
  if (!stored || stored.isDeleted) return []
  return Array.from({ length: stored.copies }).flatMap(() => countedOf(stored, definition, range))
}

function findingOf({ stored, sheet, isQuarantined }: Pair, explaining: Explaining): Finding[] {
  const { definition, range, watermark } = explaining
  const sides = { ours: ourHours(stored, explaining), theirs: countedOf(sheet, definition, range) }
  const parts = stored ? differences(stored, sheet) : []
  const isCounted = sides.ours.length > 0 || sides.theirs.length > 0
  const isWrong = !stored || stored.isDeleted || stored.copies > 1 || parts.length > 0
  if (!isCounted || !isWrong) return []
  // A version that is stored cannot be brought by a sync, whatever its time.
  const isNews =
    isLater(sheet.updatedAt, watermark) && (!stored || isLater(sheet.updatedAt, stored.updatedAt))
  if (isQuarantined) return [finding({ sheet, kind: 'quarantined', words: 'it is in quarantine' }, sides)]
  if (isNews) return [finding({ sheet, kind: 'newer', words: newerWords(parts) }, sides)]
  const [kind, words] = lossOf(stored, sheet, parts)
  const { loss, ...rest } = finding({ sheet, kind, words }, sides)
  // Reading the record again would leave the second row.
  const isMendable = loss !== undefined && (stored?.copies ?? 1) === 1
  return [isMendable ? { ...rest, loss } : rest]
}

const newerWords = (parts: readonly string[]): string =>
  [...parts, parts.length === 0 ? 'newer than what was read' : 'changed since it was read'].join(', ')

function lossOf(
  stored: StoredSheet | undefined,
  sheet: Sheet,
  parts: readonly string[],
): [FindingKind, string] {
  if (!stored) return ['lost', 'not in the warehouse, and older than what was read']
  if (stored.isDeleted) return ['lost', 'marked as deleted here, and the service lists it']
  if (stored.copies > 1) return ['differs', `it is stored ${stored.copies} times: run muster replay`]
  const isMissed = isLater(sheet.updatedAt, stored.updatedAt)
  return ['differs', [...parts, isMissed ? 'a change that was not read' : 'in the same version'].join(', ')]
}

/** Without a time to compare with, everything is later. */
const isLater = (time: string | null, than: string | null | undefined): boolean =>
  than === null || than === undefined || Date.parse(time ?? '') > Date.parse(than)

function finding(
  { sheet, kind, words }: { readonly sheet: Sheet; readonly kind: FindingKind; readonly words: string },
  sides: Pick<Finding, 'ours' | 'theirs'>,
): Finding {
  const { id, createdAt, updatedAt } = sheet
  const record = sheet.reference ?? id
  const isLoss = kind === 'lost' || kind === 'differs'
  return {
    ...{ metric: 'workersOverHours', kind, record, changedAt: updatedAt, ...sides },
    sentence: `timesheet ${record}: ${words}`,
    ...(isLoss && { loss: { resource: 'timesheets', id, createdAt, updatedAt } }),
  }
}
