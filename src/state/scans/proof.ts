/** The proof of completeness that ops.window holds: which walks of a resource count now, and what they saw. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { WindowTable } from './tables.ts'
import { retiredScope } from './windows.ts'

export interface Proof {
  readonly accepted: number
  readonly walking: number
  readonly refused: number
  /** Over the whole walks that count now: different ids seen, and what the service claimed to have. */
  readonly distinctIds: number
  readonly greatestTotal: number
  readonly pages: number
  /** Most walks that one window needed. */
  readonly attempts: number
}

/** Of every window of a resource, oldest first. */
export async function windowsOf(engine: Engine, resource: string): Promise<WindowTable[]> {
  return ledger(engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', resource)
    .orderBy('started_at')
    .orderBy('window_id')
    .execute()
}

/** Windows with the same place replace each other. The day in the name of a snapshot's part moves every month. */
function placeOf({ kind, scope, from_day, to_day }: WindowTable): string {
  if (kind === 'incremental' || kind === 'hydrate') return kind
  if (kind === 'snapshot') return `${kind} ${(scope ?? '').replace(/ \d{4}-\d\d-\d\d$/, '')}`
  return `${kind} ${from_day ?? ''}..${to_day ?? ''}`
}

/** Whether a later window read every day of this one. */
function covers(later: WindowTable, window: WindowTable): boolean {
  const fromStart = later.from_day === null || (window.from_day !== null && later.from_day <= window.from_day)
  const toEnd = later.to_day === null || (window.to_day !== null && later.to_day >= window.to_day)
  return later.kind === 'backfill' && later.state === 'accepted' && fromStart && toEnd
}

/** Windows that nothing later replaces. */
export function currentWindows(all: readonly WindowTable[]): WindowTable[] {
  const windows = all.filter(({ scope }) => scope !== retiredScope)
  const latest = new Map(windows.map(window => [placeOf(window), window]))
  const ordered = [...latest.values()]
  return ordered.filter(window => {
    if (window.kind !== 'backfill' || window.state === 'accepted') return true
    return !windows.slice(windows.indexOf(window) + 1).some(later => covers(later, window))
  })
}

/** A walk over changes ends where it meets what is known, so only the others compare ids with a total. */
export function proofOf(windows: readonly WindowTable[]): Proof {
  const current = currentWindows(windows)
  const whole = current.filter(({ kind }) => kind !== 'incremental' && kind !== 'hydrate')
  const count = (state: WindowTable['state']): number => current.filter(one => one.state === state).length
  const sum = (name: 'distinct_ids' | 'greatest_total'): number =>
    whole.reduce((total, window) => total + Number(window[name]), 0)
  return {
    accepted: count('accepted'),
    walking: count('walking'),
    refused: count('refused'),
    distinctIds: sum('distinct_ids'),
    greatestTotal: sum('greatest_total'),
    pages: current.reduce((total, window) => total + Number(window.pages), 0),
    attempts: Math.max(0, ...current.map(window => Number(window.attempt))),
  }
}
