/** How many records without a list are stored, and why the rest is not, in sentences. */
import { formatNumber } from '../../lib/counted.ts'
import type { Coverage, IdCoverage } from '../../state/by-id/coverage.ts'

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
      `${formatNumber(withoutId)} are in metric rows only, which give no id: events or muster discover bring it`,
  ])
}

function creditNotesLine({ creditNotes: { stored, onInvoices } }: Coverage): string {
  return join([
    `credit notes stored ${stored} of ${onInvoices} on invoices`,
    Number(stored) < Number(onInvoices) && 'no record names their ids: events or muster discover bring them',
  ])
}

/** With fewer changes the share would be mostly chance. */
const fewestChanges = 20

function eventsLine({ events }: Coverage): string[] {
  const told = events
    .filter(({ announced, found }) => announced > 0 && found >= fewestChanges)
    .map(({ resource, announced, found }) => `${resource} ${((announced / found) * 100).toFixed(0)}%`)
  return told.length > 0 ? [`changes that an event had announced: ${told.join(', ')}`] : []
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
