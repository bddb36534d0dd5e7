/** What is held of records that are read by id, and why the rest is not, in sentences. */
import { formatNumber } from '../../lib/counted.ts'
import type { Coverage, IdCoverage } from '../../state/by-id/coverage.ts'

const join = (parts: readonly (string | false)[]): string => parts.filter(part => part !== false).join('; ')

function idsLine({ resource, known, held, unseen, reasons }: IdCoverage): string {
  const rest = [
    unseen > 0 && `${formatNumber(unseen)} not read yet`,
    ...reasons.map(({ reason, ids }) => `${formatNumber(ids)}: ${reason}`),
  ]
  return join([`${resource} held ${formatNumber(held)} of ${formatNumber(known)} known ids`, ...rest])
}

function requisitionsLine({ requisitions: { held, known, withoutId } }: Coverage): string {
  return join([
    `requisitions held ${formatNumber(held)} of ${formatNumber(known)} known references`,
    withoutId > 0 &&
      `${formatNumber(withoutId)} are in metric rows only, which give no id: events or muster discover bring it`,
  ])
}

function creditNotesLine({ creditNotes: { held, onInvoices } }: Coverage): string {
  return join([
    `credit notes held ${held} of ${onInvoices} that invoices say`,
    Number(held) < Number(onInvoices) && 'no record names their ids: events or muster discover bring them',
  ])
}

/** Of fewer changes the share would say more of chance than of the service. */
const fewestChanges = 20

function eventsLine({ events }: Coverage): string[] {
  const told = events
    .filter(({ announced, found }) => announced > 0 && found >= fewestChanges)
    .map(({ resource, announced, found }) => `${resource} ${((announced / found) * 100).toFixed(0)}%`)
  return told.length > 0 ? [`of the changes that reads found, events had announced: ${told.join(', ')}`] : []
}

/** A line for each resource of which any id is known, and for what other records count. */
export function coverageLines(coverage: Coverage): string[] {
  const { requisitions, creditNotes, ids } = coverage
  return [
    ...ids.map(idsLine),
    ...(requisitions.known > 0 ? [requisitionsLine(coverage)] : []),
    ...eventsLine(coverage),
    ...(Number(creditNotes.onInvoices) + Number(creditNotes.held) > 0 ? [creditNotesLine(coverage)] : []),
  ]
}
