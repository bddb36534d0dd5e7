/** When a record counts as deleted, as a pure decision over what was witnessed: two witnesses, one scope, no landslide. */
import type { EvidenceKind } from '../../state/evidence/tables.ts'

/** One witness that a record is gone. */
export interface Word {
  readonly kind: EvidenceKind
  /** Id of the run, or of the event. */
  readonly source: string
  /** ISO 8601, UTC. */
  readonly seenAt: string
  /** What the key could see then; null for an event, and for a run whose scope is not known. */
  readonly scopeId: string | null
  /** A 404 to a key that saw what this one sees, as far as their lists tell, and that had shown the record. */
  readonly isPredecessors?: boolean
}

/** A live record of the warehouse that somebody found gone. */
export interface Suspect {
  readonly id: string
  /** Whether the version held was fetched with the scope of now. */
  readonly isFetchedWithScope: boolean
  readonly words: readonly Word[]
}

export interface Circumstances {
  /** What the key sees now. */
  readonly scopeId: string
  /** Live records of the resource. */
  readonly live: number
  /** As many as somebody allowed to be gone at once, instead of the usual limit. */
  readonly most?: number
}

export interface Verdict {
  readonly gone: readonly { readonly suspect: Suspect; readonly at: string }[]
  /** How many would be gone where that is too many to be believed; then none is. */
  readonly doubted?: number
}

/** More than this gone at once looks like a fault of the service or of the key, not like somebody deleting. */
export const mostAtOnce = (live: number, most?: number): number =>
  most ?? Math.max(20, Math.floor(live * 0.02))

/** Events say that a record was deleted; the others say only that this scope does not see it. */
const isOurs = (word: Word, scopeId: string): boolean => word.kind === 'event' || word.scopeId === scopeId

/**
 * A 404 to the key that this one replaced tells as much as one to this key: a record that both lost from sight, and that
 * is there, would have had to be hidden from each.
 */
const counts = (word: Word, scopeId: string): boolean => isOurs(word, scopeId) || word.isPredecessors === true

/** An event that was sent twice is one witness; a sweep is another witness than the sweep of another run. */
const nameOf = ({ kind, source }: Word): string => (kind === 'event' ? kind : `${kind} ${source}`)

export function isProved({ words, isFetchedWithScope }: Suspect, scopeId: string): boolean {
  const valid = words.filter(word => counts(word, scopeId))
  if (new Set(valid.map(nameOf)).size < 2 || !valid.some(word => isOurs(word, scopeId))) return false
  // A sweep judges what its scope has shown before; an answer by id does not know what it ever showed.
  return isFetchedWithScope || valid.some(word => word.kind !== 'by-id 404' || word.isPredecessors === true)
}

export function decide(suspects: readonly Suspect[], { scopeId, live, most }: Circumstances): Verdict {
  const proved = suspects.filter(suspect => isProved(suspect, scopeId))
  if (proved.length > mostAtOnce(live, most)) return { gone: [], doubted: proved.length }
  const latest = (words: readonly Word[]): string =>
    words
      .map(({ seenAt }) => seenAt)
      .reduce((left, right) => (Date.parse(right) > Date.parse(left) ? right : left))
  return {
    gone: proved.map(suspect => ({
      suspect,
      at: latest(suspect.words.filter(word => counts(word, scopeId))),
    })),
  }
}

export interface SweepFigures {
  /** Live records that the scope has shown before, and those of them that the sweep did not see. */
  readonly judged: number
  readonly missing: number
  /** Whether this scope sweeps the list for the first time, and others did or brought rows that it does not show. */
  readonly isNewScope: boolean
  readonly most?: number
}

/** What a sweep that read its list whole is worth as a witness. */
export function worthOf({
  judged,
  missing,
  isNewScope,
  most,
}: SweepFigures): 'witness' | 'baseline' | 'doubted' {
  if (isNewScope) return 'baseline'
  return missing > mostAtOnce(judged, most) ? 'doubted' : 'witness'
}
