/** Decides when a record counts as deleted, without I/O: two pieces of evidence, one scope, and not too many at once. */
import type { EvidenceKind } from '../../state/evidence/tables.ts'

/** One observation that the service no longer has a record. */
export interface DeletionEvidence {
  readonly kind: EvidenceKind
  /** Id of the run, or of the event. */
  readonly source: string
  /** ISO 8601, UTC. */
  readonly seenAt: string
  /** The key's scope at the time; null for an event, or if the run's scope is unknown. */
  readonly scopeId: string | null
  /** A 404 for an earlier key with the same lists, which had shown the record. */
  readonly isPredecessors?: boolean
}

/** A live record of the warehouse with evidence of a deletion. */
export interface DeletionCandidate {
  readonly id: string
  /** Whether the stored version was fetched with the current scope. */
  readonly isFetchedWithScope: boolean
  readonly evidence: readonly DeletionEvidence[]
}

export interface DeletionContext {
  /** The key's current scope. */
  readonly scopeId: string
  /** Live records of the resource. */
  readonly live: number
  /** How many deletions at once the operator allows, instead of the default limit. */
  readonly maxDeletions?: number
}

export interface DeletionDecision {
  readonly deleted: readonly { readonly candidate: DeletionCandidate; readonly at: string }[]
  /** How many would be deleted if that is implausible; then nothing is. */
  readonly implausible?: number
}

export interface MissingCounts {
  readonly missing: number
  /** Missing records whose deletion an event announced. */
  readonly announced?: number
  /** Records that should be there. */
  readonly of: number
  readonly maxDeletions?: number | undefined
}

const fewOf = (records: number): number => Math.max(20, Math.floor(records * 0.02))

/** Half of the records, rounded down: of two records one, and the only one never. */
const partOf = (records: number): number => Math.floor(records / 2)

/** More missing at once looks like a fault of the service or the key, not like deletions. */
export const maxAtOnce = (records: number, maxDeletions?: number): number =>
  maxDeletions ?? Math.min(fewOf(records), partOf(records))

/**
 * A snapshot is read twice before rows are removed, so only the share counts; a list of one or two rows may become
 * empty.
 */
export const isPlausibleLoss = (
  { stored, missing }: { readonly stored: number; readonly missing: number },
  maxDeletions?: number,
): boolean =>
  maxDeletions === undefined ? stored <= 2 || missing <= partOf(stored) : missing <= maxDeletions

/** Announced deletions may empty a list, or more than halve it, but do not raise the other limit. */
function isTooMany({ missing, announced = 0, of, maxDeletions }: MissingCounts): boolean {
  if (maxDeletions !== undefined) return missing > maxDeletions
  return missing > fewOf(of) || missing - announced > partOf(of - announced)
}

/** An event says that a record was deleted; other evidence only says that its scope does not show the record. */
const isOurs = (piece: DeletionEvidence, scopeId: string): boolean =>
  piece.kind === 'event' || piece.scopeId === scopeId

/**
 * A 404 for the key that this one replaced counts like one for this key: an existing record would have to be hidden
 * from both.
 */
const counts = (piece: DeletionEvidence, scopeId: string): boolean =>
  isOurs(piece, scopeId) || piece.isPredecessors === true

/** An event sent twice is one piece of evidence; sweeps of two runs are two. */
const nameOf = ({ kind, source }: DeletionEvidence): string => (kind === 'event' ? kind : `${kind} ${source}`)

export function isProved({ evidence, isFetchedWithScope }: DeletionCandidate, scopeId: string): boolean {
  const valid = evidence.filter(piece => counts(piece, scopeId))
  if (new Set(valid.map(nameOf)).size < 2 || !valid.some(piece => isOurs(piece, scopeId))) return false
  // A sweep compares with what its scope has shown before. A 404 by id may be for a record that the scope never showed.
  return (
    isFetchedWithScope || valid.some(piece => piece.kind !== 'by-id 404' || piece.isPredecessors === true)
  )
}

export const isAnnounced = ({ evidence }: DeletionCandidate): boolean =>
  evidence.some(({ kind }) => kind === 'event')

export const areTooMany = (
  candidates: readonly DeletionCandidate[],
  { live, maxDeletions }: DeletionContext,
): boolean =>
  isTooMany({
    missing: candidates.length,
    announced: candidates.filter(isAnnounced).length,
    of: live,
    maxDeletions,
  })

export function decide(candidates: readonly DeletionCandidate[], context: DeletionContext): DeletionDecision {
  const { scopeId } = context
  const proved = candidates.filter(candidate => isProved(candidate, scopeId))
  if (areTooMany(proved, context)) return { deleted: [], implausible: proved.length }
  const latest = (evidence: readonly DeletionEvidence[]): string =>
    evidence
      .map(({ seenAt }) => seenAt)
      .reduce((left, right) => (Date.parse(right) > Date.parse(left) ? right : left))
  return {
    deleted: proved.map(candidate => ({
      candidate,
      at: latest(candidate.evidence.filter(piece => counts(piece, scopeId))),
    })),
  }
}

export interface SweepFigures {
  /** Live records that the scope has shown before, and how many of them the sweep did not see. */
  readonly judged: number
  readonly missing: number
  /** Missing records whose deletion an event announced. */
  readonly announced?: number
  /**
   * Whether this scope sweeps the list for the first time, after other scopes swept it or loaded rows that it does not
   * show.
   */
  readonly isNewScope: boolean
  readonly maxDeletions?: number
}

/** Decides what a sweep that has read its full list is worth as evidence. */
export function worthOf({
  judged,
  missing,
  announced,
  isNewScope,
  maxDeletions,
}: SweepFigures): 'evidence' | 'baseline' | 'implausible' {
  if (isNewScope) return 'baseline'
  const isImplausible = isTooMany({
    missing,
    ...(announced !== undefined && { announced }),
    of: judged,
    maxDeletions,
  })
  return isImplausible ? 'implausible' : 'evidence'
}
