/** What `muster status` says of webhooks: one line, and none where nothing ever came. */

import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import type { EventFigures } from '../../state/inbox/figures.ts'
import { ageOf } from '../terminal/output.ts'

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

export function eventLine(figures: EventFigures, nowMs: number): string | undefined {
  const { events, lastAt, waiting, waitingSince, unknownTypes, refusedDeliveries } = figures
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
    turnedAway > 0 &&
      `${counted(turnedAway, 'delivery', 'deliveries')} refused (${refusedDeliveries.map(({ reason, deliveries }) => `${reason} ${formatNumber(deliveries)}`).join(', ')})`,
  ]
  return parts.filter(part => part !== false).join('; ')
}
