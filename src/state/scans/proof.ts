/** Computes the proof of completeness of a resource: which of its scans count now, and what they saw. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import { retiredScope } from './scans.ts'
import type { ScanRow } from './tables.ts'

export interface ProofRow {
  readonly accepted: number
  readonly scanning: number
  readonly refused: number
  /** Over the current scans of complete lists: distinct ids seen, and how many were needed. */
  readonly distinctIds: number
  readonly expectedIds: number
  readonly pages: number
  /** Max passes that one scan needed. */
  readonly attempts: number
}

/** Every scan of a resource, oldest first; sweeps have a proof of their own. */
export async function scansOf(engine: Engine, resource: string): Promise<ScanRow[]> {
  return ledger(engine)
    .selectFrom('ops.scan')
    .selectAll()
    .where('resource', '=', resource)
    .where('kind', '<>', 'sweep')
    .orderBy('started_at')
    .orderBy('scan_id')
    .execute()
}

/** Scans with the same range replace each other. Ignores the day in a snapshot scope, which moves every month. */
function scanRangeOf({ kind, scope, from_day, to_day }: ScanRow): string {
  if (kind === 'incremental' || kind === 'by id') return kind
  if (kind === 'snapshot') return `${kind} ${(scope ?? '').replace(/ \d{4}-\d\d-\d\d$/, '')}`
  return `${kind} ${from_day ?? ''}..${to_day ?? ''}`
}

/** Whether a later scan read every day of this one. */
function covers(later: ScanRow, scan: ScanRow): boolean {
  const fromStart = later.from_day === null || (scan.from_day !== null && later.from_day <= scan.from_day)
  const toEnd = later.to_day === null || (scan.to_day !== null && later.to_day >= scan.to_day)
  return later.kind === 'backfill' && later.state === 'accepted' && fromStart && toEnd
}

/** Scans not replaced by a later one. */
export function currentScans(all: readonly ScanRow[]): ScanRow[] {
  const scans = all.filter(({ scope }) => scope !== retiredScope)
  const latest = new Map(scans.map(scan => [scanRangeOf(scan), scan]))
  const ordered = [...latest.values()]
  return ordered.filter(scan => {
    if (scan.kind !== 'backfill' || scan.state === 'accepted') return true
    return !scans.slice(scans.indexOf(scan) + 1).some(later => covers(later, scan))
  })
}

/** An incremental scan ends where it meets known rows, so only the others compare ids with a total. */
export function proofOf(scans: readonly ScanRow[]): ProofRow {
  const current = currentScans(scans)
  const fullScans = current.filter(({ kind }) => kind !== 'incremental' && kind !== 'by id')
  const count = (state: ScanRow['state']): number => current.filter(one => one.state === state).length
  const sum = (name: 'distinct_ids' | 'expected_ids'): number =>
    fullScans.reduce((total, scan) => total + Number(scan[name]), 0)
  return {
    accepted: count('accepted'),
    scanning: count('scanning'),
    refused: count('refused'),
    distinctIds: sum('distinct_ids'),
    expectedIds: sum('expected_ids'),
    pages: current.reduce((total, scan) => total + Number(scan.pages), 0),
    attempts: Math.max(0, ...current.map(scan => Number(scan.attempt))),
  }
}
