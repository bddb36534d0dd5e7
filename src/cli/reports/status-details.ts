/** The details of `muster status` in sentences: records without a list, deletions, and webhook events. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import type { Coverage, IdCoverage } from '../../state/by-id/coverage.ts'
import { type Absence, isNewerCount } from '../../state/evidence/absence.ts'
import { type EventFigures, filling, type StoredEvents } from '../../state/inbox/figures.ts'
import type { CrosscheckVerdict } from '../../state/marts/metrics.ts'
import { tableInQueries } from '../../state/tables.ts'
import { ageOf } from '../terminal/output.ts'

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

/** Whether the metrics computed here are those of the service. */
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

/** With fewer changes the percentage would be mostly chance. */
const fewestChanges = 20

function eventsLine({ events }: Coverage): string[] {
  const told = events
    .filter(({ announced, found }) => announced > 0 && found >= fewestChanges)
    .map(({ resource, announced, found }) => `${resource} ${((announced / found) * 100).toFixed(0)}%`)
  return told.length > 0 ? [`changes announced by an event: ${told.join(', ')}`] : []
}

/** A line for each resource with known ids, and for the records that others count. */
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

/** Days that are counted. */
const days = 30
/** Names of unknown types that are shown. */
const mostNames = 3

/** ISO 8601. */
export const countedSince = (nowMs: number): string => new Date(nowMs - days * dayMs).toISOString()

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function names(list: readonly string[]): string {
  const more = list.length > mostNames ? ', …' : ''
  return `${list.slice(0, mostNames).join(', ')}${more}`
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
