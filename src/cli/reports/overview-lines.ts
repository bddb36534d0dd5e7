/** `muster status --all`: a line for each connection, and a sentence about all of them. */
import { counted, formatNumber } from '../../lib/counted.ts'
import type { Overview } from '../../state/overview.ts'
import type { Night } from '../../state/runs/nights.ts'
import { ageOf, type Cell, type Column } from '../terminal/output.ts'

/** An overview, or why there is none. */
export interface Seen {
  readonly connection: string
  /** Undefined where no sync has written yet. */
  readonly overview?: Overview
  readonly failure?: string
}

export const overviewColumns: readonly Column[] = [
  'connection',
  'last sync',
  'last night',
  { title: 'behind', drop: 2 },
  { title: 'quarantine', drop: 3 },
  { title: 'left today', drop: 1 },
  'note',
]

const nightWords = { done: 'done', later: 'partial', failed: 'failed' } as const

const lastNight = ({ nights }: Overview): Night | undefined => nights[0]

type Condition = 'well' | 'partial' | 'failed' | 'not synced yet' | 'unreadable'

/** The last night counts; where none ran, the last sync does. */
function conditionOf({ overview, failure }: Seen): Condition {
  if (failure !== undefined) return 'unreadable'
  if (!overview) return 'not synced yet'
  const night = lastNight(overview)
  if (night) return night.state === 'done' ? 'well' : night.state === 'later' ? 'partial' : 'failed'
  const state = overview.sync?.state
  if (state === 'failed') return 'failed'
  return state === 'stopped' || state === 'incomplete' ? 'partial' : 'well'
}

const noteOf = ({ overview, failure }: Seen): string => {
  if (failure !== undefined) return failure
  if (!overview) return 'not synced yet'
  const night = lastNight(overview)
  return (night ? night.reason : overview.sync?.message) ?? ''
}

export function overviewRow(seen: Seen, nowMs: number): Cell[] {
  const { connection, overview } = seen
  if (!overview) return [connection, null, null, null, null, null, noteOf(seen)]
  const night = lastNight(overview)
  return [
    connection,
    overview.lastSync ? ageOf(overview.lastSync, nowMs) : 'never',
    night ? `${night.dag} ${nightWords[night.state]}` : null,
    overview.behind.length,
    overview.quarantined,
    overview.spending?.remainingToday == null ? null : formatNumber(overview.spending.remainingToday),
    noteOf(seen),
  ]
}

const order: readonly Condition[] = ['well', 'partial', 'failed', 'not synced yet', 'unreadable']

/** `200 connections: 197 well, 2 partial, 1 failed`. */
export function overviewSummary(all: readonly Seen[]): string {
  const conditions = all.map(conditionOf)
  const parts = order.flatMap(one => {
    const count = conditions.filter(condition => condition === one).length
    return count > 0 ? [`${formatNumber(count)} ${one}`] : []
  })
  return `${counted(all.length, 'connection')}: ${parts.join(', ')}`
}

export const seenAsJson = (seen: Seen) => ({
  connection: seen.connection,
  condition: conditionOf(seen),
  ...(seen.failure !== undefined && { failure: seen.failure }),
  overview: seen.overview ?? null,
})
