/** When a record counts as deleted, as a pure decision: two pieces of evidence, one scope, not too many at once. */
import type { EvidenceKind } from '../../state/evidence/tables.ts'

/** One observation that a record is missing at the source. */
export interface Evidence {
  readonly kind: EvidenceKind
  /** Id of the run, or of the event. */
  readonly source: string
  /** ISO 8601, UTC. */
  readonly seenAt: string
  /** The scope of the key then; null for an event, and for a run whose scope is unknown. */
  readonly scopeId: string | null
  /** A 404 to an earlier key with the same lists, which had shown the record. */
  readonly isPredecessors?: boolean
}

/** A live record of the warehouse for which there is evidence of a deletion. */
export interface Candidate {
  readonly id: string
  /** Whether the stored version was fetched with the current scope. */
  readonly isFetchedWithScope: boolean
  readonly evidence: readonly Evidence[]
}

export interface Circumstances {
  /** The current scope of the key. */
  readonly scopeId: string
  /** Live records of the resource. */
  readonly live: number
  /** How many an operator allows to be deleted at once, instead of the usual limit. */
  readonly most?: number
}

export interface Decision {
  readonly deleted: readonly { readonly candidate: Candidate; readonly at: string }[]
  /** How many would be deleted if that is too many to believe; then none is. */
  readonly doubted?: number
}

export interface MissingAtOnce {
  readonly missing: number
  /** Those of them whose deletion an event announced. */
  readonly announced?: number
  /** Records that should be there. */
  readonly of: number
  readonly most?: number | undefined
}

const fewOf = (records: number): number => Math.max(20, Math.floor(records * 0.02))

/** Lists of so few records may lose all but one; longer ones no more than half. An empty list is never believed. */
const shortest = 3
const partOf = (records: number): number =>
  records < shortest ? Math.max(0, records - 1) : Math.floor(records / 2)

/** More missing at once than this looks like a fault of the service or of the key, not like deletions. */
export const mostAtOnce = (records: number, most?: number): number =>
  most ?? Math.min(fewOf(records), partOf(records))

/** A snapshot is read twice before rows are removed, so that only the share counts; a list of one or two rows may go. */
export const isBelievedLoss = (
  { stored, missing }: { readonly stored: number; readonly missing: number },
  most?: number,
): boolean => (most === undefined ? stored < shortest || missing <= partOf(stored) : missing <= most)

/** Events excuse an empty list, or one that lost more than half; they do not excuse a landslide. */
function isTooMany({ missing, announced = 0, of, most }: MissingAtOnce): boolean {
  if (most !== undefined) return missing > most
  return missing > fewOf(of) || missing - announced > partOf(of - announced)
}

/** An event says that a record was deleted; other evidence says only that its scope does not show it. */
const isOurs = (piece: Evidence, scopeId: string): boolean =>
  piece.kind === 'event' || piece.scopeId === scopeId

/**
 * A 404 to the key that this one replaced counts like one to this key: a record that still exists would have to be hidden
 * from both.
 */
const counts = (piece: Evidence, scopeId: string): boolean =>
  isOurs(piece, scopeId) || piece.isPredecessors === true

/** An event that was sent twice is one piece of evidence; sweeps of two runs are two. */
const nameOf = ({ kind, source }: Evidence): string => (kind === 'event' ? kind : `${kind} ${source}`)

export function isProved({ evidence, isFetchedWithScope }: Candidate, scopeId: string): boolean {
  const valid = evidence.filter(piece => counts(piece, scopeId))
  if (new Set(valid.map(nameOf)).size < 2 || !valid.some(piece => isOurs(piece, scopeId))) return false
  // A sweep compares with what its scope has shown before. A 404 by id may be for a record that the scope never showed.
  return (
    isFetchedWithScope || valid.some(piece => piece.kind !== 'by-id 404' || piece.isPredecessors === true)
  )
}

export const isAnnounced = ({ evidence }: Candidate): boolean => evidence.some(({ kind }) => kind === 'event')

export const areTooMany = (candidates: readonly Candidate[], { live, most }: Circumstances): boolean =>
  isTooMany({ missing: candidates.length, announced: candidates.filter(isAnnounced).length, of: live, most })

export function decide(candidates: readonly Candidate[], circumstances: Circumstances): Decision {
  const { scopeId } = circumstances
  const proved = candidates.filter(candidate => isProved(candidate, scopeId))
  if (areTooMany(proved, circumstances)) return { deleted: [], doubted: proved.length }
  const latest = (evidence: readonly Evidence[]): string =>
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
  /** Of the missing, those whose deletion an event announced. */
  readonly announced?: number
  /** Whether this scope sweeps the list for the first time, after others swept it or brought rows that it does not show. */
  readonly isNewScope: boolean
  readonly most?: number
}

/** What a sweep that read its list whole is worth as evidence. */
export function worthOf({
  judged,
  missing,
  announced,
  isNewScope,
  most,
}: SweepFigures): 'evidence' | 'baseline' | 'doubted' {
  if (isNewScope) return 'baseline'
  const isDoubted = isTooMany({ missing, ...(announced !== undefined && { announced }), of: judged, most })
  return isDoubted ? 'doubted' : 'evidence'
}
