/** Formats the tables and lines of `muster status`: resources, records read by id, deletions, events, retention. */
import type { StoredConnection } from '../../config/connection.ts'
import { byIdResources } from '../../contract/catalogue.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import type { Coverage, IdCoverage } from '../../state/by-id/coverage.ts'
import { type Absence, isNewerCount } from '../../state/evidence/absence.ts'
import { type EventFigures, filling, type StoredEvents } from '../../state/inbox/figures.ts'
import type { CrosscheckVerdict } from '../../state/marts/metrics.ts'
import type { ReportedBudget } from '../../state/requests/key-state.ts'
import type { CurrentLease } from '../../state/runs/leases.ts'
import type { ResourceState } from '../../state/runs/resource-state.ts'
import type { Completeness } from '../../state/scans/completeness.ts'
import type { ProofRow } from '../../state/scans/proof.ts'
import { tableInQueries } from '../../state/tables.ts'
import type { CommandContext } from '../context.ts'
import { ageOf, printTable, type ShownCell, type ShownColumn } from '../terminal/output.ts'

export const resourceColumns: readonly ShownColumn[] = [
  'resource',
  'state',
  { title: 'completeness', drop: 6 },
  'rows',
  { title: 'watermark', drop: 2 },
  { title: 'windows', drop: 1 },
  'ids / total',
  { title: 'last run', drop: 3 },
  { title: 'quarantine', drop: 5 },
  { title: 'drift', drop: 4 },
  'note',
]

/** To the second, which is precise enough to read. */
const shortTime = (time: string | null): string | null => time?.replace(/\.\d+Z$/, 'Z') ?? null

/** Characters of a note that fit beside the figures; --json and `muster runs` show the full note. */
const noteLength = 60

function shortNote(note: string | null): string | null {
  return note === null || note.length <= noteLength ? note : `${note.slice(0, noteLength - 1)}…`
}

function windowsText({ accepted, scanning, refused }: ProofRow): string | null {
  const parts = [
    accepted > 0 && `${accepted} accepted`,
    scanning > 0 && `${scanning} scanning`,
    refused > 0 && `${refused} refused`,
  ]
  return parts.filter(part => part !== false).join(', ') || null
}

const byId = new Set(byIdResources.map(({ name }) => name))

/** With some kinds of keys, resources that others list are read by id. */
const isReadById = ({ resource, windows }: ResourceState): boolean =>
  byId.has(resource) || (windows.length > 0 && windows.every(({ kind }) => kind === 'by id'))

/** Resources read by id have no proof: an unknown id would not be missed. */
function proofText(one: ResourceState): string | null {
  const { distinctIds, expectedIds, accepted } = one.proof
  return accepted === 0 || isReadById(one)
    ? null
    : `${formatNumber(distinctIds)} / ${formatNumber(expectedIds)}`
}

/** A run records the state of a resource at its end; until then the state follows from the scans. */
function stateText({ state, access, lastRunAt, proof, windows }: ResourceState): string {
  if (access === 'no longer readable') return 'failed'
  if (access !== null && access !== 'readable') return 'skipped'
  if (state !== null) return state
  if (proof.scanning > 0) return 'scanning'
  return windows.length === 0 && lastRunAt === null ? 'not synced' : 'unknown'
}

export function resourceRow(one: ResourceState): readonly ShownCell[] {
  return [
    one.resource,
    stateText(one),
    one.completeness ?? 'unknown',
    one.rows,
    shortTime(one.watermark),
    windowsText(one.proof),
    proofText(one),
    shortTime(one.lastRunAt),
    one.quarantined ?? 'unknown',
    one.drifted,
    shortNote(one.accessReason ?? one.note),
  ]
}

export function printWindows(context: CommandContext, resources: readonly ResourceState[]): void {
  const columns = [
    'resource',
    'kind',
    { title: 'from', drop: 6 },
    { title: 'to', drop: 7 },
    { title: 'scope', drop: 5 },
    'state',
    'ids',
    'total',
    { title: 'pages', drop: 4 },
    { title: 'attempts', drop: 3 },
    { title: 'started', drop: 1 },
    { title: 'accepted', drop: 2 },
  ]
  printTable(
    context,
    columns,
    resources
      .flatMap(({ windows }) => windows)
      .map(window => [
        window.resource,
        window.kind,
        window.from_day,
        window.to_day,
        window.scope,
        window.state,
        Number(window.distinct_ids),
        Number(window.expected_ids),
        Number(window.pages),
        Number(window.attempt),
        shortTime(window.started_at),
        shortTime(window.accepted_at),
      ]),
  )
}

/** A count with its noun, or nothing if it is zero. `one` is the singular where it differs. */
function some(count: number, several: string, one = several): string[] {
  return count > 0 ? [counted(count, one, several)] : []
}

/** One sentence that says whether anything needs attention. */
export function summaryLine(resources: readonly ResourceState[]): string {
  const states = resources.map(stateText)
  const having = (state: string): number => states.filter(one => one === state).length
  const sum = (of: (one: ResourceState) => number): number =>
    resources.reduce((total, one) => total + of(one), 0)
  const worded = (word: Completeness): number =>
    resources.filter(({ completeness }) => completeness === word).length
  const [complete, unread] = [worded('complete'), worded('not read yet')]
  const comparable = complete + worded('incomplete') + unread
  const scanning = sum(({ proof }) => proof.scanning)
  const refused = sum(({ proof }) => proof.refused)
  const quarantined = sum(one => one.quarantined ?? 0)
  const drifted = sum(one => one.drifted)
  const troubles = [
    ...some(having('failed'), 'failed'),
    ...some(worded('incomplete'), 'incomplete'),
    ...some(having('stopped'), 'stopped before the end'),
    ...some(worded('not for this key'), 'not for this key'),
    ...some(unread, 'not read yet'),
    ...some(worded('no total to compare with'), 'without a total to compare with'),
    ...some(resources.filter(({ emptySince }) => emptySince !== null).length, 'empty at the service'),
    ...some(scanning, 'windows not read to the end', 'window not read to the end'),
    ...some(refused, 'windows refused', 'window refused'),
    ...some(quarantined, 'records in quarantine', 'record in quarantine'),
    ...some(drifted, 'fields or values drifted', 'field or value drifted'),
  ]
  const head = `${complete} of ${comparable} resources proved complete`
  return [head, ...troubles].join(', ')
}

/** For a list that the service returns as empty; undefined for others. */
export function emptyLine({ resource, emptySince, rows }: ResourceState): string | undefined {
  if (emptySince === null) return undefined
  return `empty at the service: ${resource}, since ${shortTime(emptySince)}; ${formatNumber(rows)} are stored: if they are deleted, muster sweep ${resource} --max-deletions ${rows}`
}

/** For a list with capped pages or hidden rows; undefined for others. */
export function pagingLine({ resource, pageSize, hiddenRows }: ResourceState): string | undefined {
  const parts = [
    ...(pageSize === null ? [] : [`a page has ${counted(pageSize, 'row')} at most, whatever is requested`]),
    ...(hiddenRows === null ? [] : [`its total counted ${counted(hiddenRows, 'row')} that no page showed`]),
  ]
  return parts.length === 0 ? undefined : `${resource}: ${parts.join('; ')}`
}

/** Describes a lease: of a running sync, or left by a process that died. */
export function holderLine({ resource, holder, since, until, isPresent }: CurrentLease): string {
  const began = since === null ? '' : ` since ${shortTime(since)}`
  return isPresent
    ? `${resource} is being synced by ${holder}${began}; lease until ${shortTime(until)}`
    : `${resource} was left by ${holder}, which died without finishing: the next sync takes it over`
}

export const lostRunLine = (id: string): string =>
  `run ${id} died without finishing; the next sync continues from what it committed`

export function budgetLine(budget: ReportedBudget | undefined): string {
  if (!budget) return 'budget: this key has not synced into this file'
  const { perMinute, perDay, remainingToday, observedAt } = budget
  const limitText = (limit: number | null): string =>
    limit === null ? 'an unknown number' : formatNumber(limit)
  const limits = `${limitText(perMinute)} requests a minute, ${limitText(perDay)} a day`
  if (remainingToday === null) return `budget: ${limits}; what is left of the day is unknown`
  return `budget: ${limits}; ${formatNumber(remainingToday)} were left when the last run began, ${shortTime(observedAt)}`
}

const join = (parts: readonly (string | false)[]): string => parts.filter(part => part !== false).join('; ')

function idsLine({ resource, known, stored, neverFetched, reasons }: IdCoverage): string {
  const rest = [
    neverFetched > 0 && `${formatNumber(neverFetched)} never fetched`,
    ...reasons.map(({ reason, ids }) => `${formatNumber(ids)}: ${reason}`),
  ]
  return join([`${resource} stored ${formatNumber(stored)} of ${formatNumber(known)} known ids`, ...rest])
}

function requisitionsLine({ requisitions: { stored, known, withoutId } }: Coverage): string {
  return join([
    `requisitions stored ${formatNumber(stored)} of ${formatNumber(known)} known references`,
    withoutId > 0 &&
      `${formatNumber(withoutId)} are only in metric rows, which have no ids: events or muster discover bring the ids`,
  ])
}

function creditNotesLine({ creditNotes: { stored, onInvoices } }: Coverage): string {
  return join([
    `credit notes stored ${stored} of ${onInvoices} on invoices`,
    Number(stored) < Number(onInvoices) && 'no record names their ids: events or muster discover bring them',
  ])
}

/** Whether the metrics computed here agree with the service's. */
export function crosscheckLine(verdict: CrosscheckVerdict | undefined, nowMs: number): string {
  if (!verdict)
    return 'crosscheck: none yet; muster crosscheck compares our metrics with those of the service'
  const { checkedAt, compared, unexplained, uncovered } = verdict
  return join([
    `crosscheck ${ageOf(checkedAt, nowMs)}: ${formatNumber(compared)} figures compared, ${formatNumber(unexplained)} unexplained`,
    uncovered > 0 && `${formatNumber(uncovered)} rest on records whose ids are unknown`,
    unexplained > 0 && 'muster crosscheck names the records',
  ])
}

/** With fewer changes, the percentage would be mostly chance. */
const fewestChanges = 20

function eventsLine({ events }: Coverage): string[] {
  const announcedShares = events
    .filter(({ announced, found }) => announced > 0 && found >= fewestChanges)
    .map(({ resource, announced, found }) => `${resource} ${((announced / found) * 100).toFixed(0)}%`)
  return announcedShares.length > 0 ? [`changes announced by an event: ${announcedShares.join(', ')}`] : []
}

/** A line for each resource with known ids, and for records counted in others. */
export function coverageLines(coverage: Coverage): string[] {
  const { requisitions, creditNotes, ids } = coverage
  return [
    ...ids.map(idsLine),
    ...(requisitions.known > 0 ? [requisitionsLine(coverage)] : []),
    ...eventsLine(coverage),
    ...(Number(creditNotes.onInvoices) + Number(creditNotes.stored) > 0 ? [creditNotesLine(coverage)] : []),
  ]
}

function countWords(absence: Absence): string[] {
  const { resource, total, stored } = absence
  if (total === null || stored === null || total === stored || !isNewerCount(absence)) return []
  const next =
    stored > total ? `muster sweep ${resource}` : `muster sync ${resource}, then muster sweep ${resource}`
  return [`the service counts ${formatNumber(total)}, ${formatNumber(stored)} are stored: ${next}`]
}

/** One line for each resource with something to report. */
export function deletionLines(absences: readonly Absence[]): string[] {
  return absences.flatMap(absence => {
    const { resource, tombstoned, candidates } = absence
    const words = [
      ...(tombstoned > 0 ? [`${formatNumber(tombstoned)} deleted (${tableInQueries('deletion')})`] : []),
      ...(candidates > 0
        ? [
            `${counted(candidates, 'candidate waits', 'candidates wait')} for more evidence: muster sweep ${resource}`,
          ]
        : []),
      ...countWords(absence),
    ]
    return words.length === 0 ? [] : [`${resource}: ${words.join('; ')}`]
  })
}

/** Days of events counted. */
const days = 30
/** Unknown event types shown. */
const maxNames = 3

/** ISO 8601. */
export const countedSince = (nowMs: number): string => new Date(nowMs - days * dayMs).toISOString()

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function names(list: readonly string[]): string {
  const more = list.length > maxNames ? ', …' : ''
  return `${list.slice(0, maxNames).join(', ')}${more}`
}

export function eventLine(figures: EventFigures, nowMs: number, bounds: StoredEvents): string | undefined {
  const { events, lastAt, waiting, waitingSince, unknownTypes, refusedDeliveries, stored } = figures
  const { unreadable, refused, notFound } = figures
  const unknown = sum(unknownTypes.map(one => one.events))
  const turnedAway = sum(refusedDeliveries.map(one => one.deliveries))
  if (events + waiting + turnedAway === 0) return undefined
  const parts = [
    `events: ${formatNumber(events)} in ${days} days${lastAt === null ? '' : `, the last ${ageOf(lastAt, nowMs)}`}`,
    waiting > 0 &&
      `${formatNumber(waiting)} wait to be read, the oldest came ${ageOf(waitingSince ?? '', nowMs)}`,
    refused > 0 && `${formatNumber(refused)} about what the key may not read`,
    notFound > 0 && `${formatNumber(notFound)} about records not found`,
    unknown > 0 && `${formatNumber(unknown)} of unknown types (${names(unknownTypes.map(one => one.type))})`,
    unreadable > 0 && `${formatNumber(unreadable)} without a usable id`,
    filling(stored, bounds) ?? false,
    turnedAway > 0 &&
      `${counted(turnedAway, 'delivery', 'deliveries')} refused (${refusedDeliveries.map(({ reason, deliveries }) => `${reason} ${formatNumber(deliveries)}`).join(', ')})`,
  ]
  return parts.filter(part => part !== false).join('; ')
}

type RetentionDays = Readonly<Record<'landing' | 'piiHistory' | 'inbox' | 'quarantine', number | null>>

/** Days; null for ever. */
export const retentionDaysOf = (connection: StoredConnection): RetentionDays => ({
  landing: connection.retentionDays,
  piiHistory: connection.piiHistoryDays ?? null,
  inbox: connection.inboxDays,
  quarantine: connection.quarantineDays,
})

const words = {
  landing: 'landed pages',
  piiHistory: 'superseded personal data',
  inbox: 'settled events',
  quarantine: 'resolved quarantine',
} as const

const period = (days: number | null): string => (days === null ? 'for ever' : counted(days, 'day'))

/** How long each class of data is kept. */
export function retentionText(connection: StoredConnection): string {
  const days = retentionDaysOf(connection)
  return Object.entries(words)
    .map(([name, word]) => `${word} ${period(days[name as keyof RetentionDays])}`)
    .join('; ')
}
