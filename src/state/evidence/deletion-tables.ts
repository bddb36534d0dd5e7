/** The tables of ops that tell what is gone at the service, and how that is known. */

/** ISO 8601 text in UTC on the way in, and on the way out. */
type Time = string
/** A 64-bit count; DuckDB and PostgreSQL hand it out as text or number, so readers call Number(). */
type Count = number

/** What the key could see during a run, as `/me` told it. */
export interface KeyScopeTable {
  run_id: string
  /** Equal for equal keys with equal lists. */
  scope_id: string
  api_key_id: string
  kind: 'company' | 'agency'
  /** Sorted ids, and sorted names of permissions; JSON arrays. */
  companies: string
  agencies: string
  scopes: string
  observed_at: Time
}

/**
 * sweep: a list read whole without it; by-id 404: the service knows no such record; event: the service said it was
 * deleted.
 */
export type WitnessKind = 'sweep' | 'by-id 404' | 'event'

export interface WitnessTable {
  resource: string
  record_id: string
  kind: WitnessKind
  /** Id of the run that saw it, or of the event that said it. */
  source: string
  /** The record was gone at this time or before: start of the sweep, time of the answer, or of the event's arrival. */
  seen_at: Time
  /** Set when the record was seen again later. */
  void_at: Time | null
  void_reason: string | null
}

export interface DeletionTable {
  resource: string
  record_id: string
  tombstoned_at: Time
  run_id: string
  /** Of its witnesses the latest; what is fetched later and has the record brings it back. */
  deleted_at: Time
  /** Kind, source and time of each witness; a JSON array. */
  witnesses: string
  undeleted_at: Time | null
  /** Run that saw the record again. */
  undeleted_by: string | null
}

export interface SweepTable {
  sweep_id: string
  resource: string
  scope_id: string
  /** doubted: read whole, but too much was missing to believe it. */
  state: 'sweeping' | 'accepted' | 'doubted' | 'refused'
  started_at: Time
  ended_at: Time | null
  /** Day of the oldest record, where the windows end. */
  earliest_day: string | null
  run_id: string
  /** Rows the service claimed, summed over windows that share days. */
  total: Count
  /** Different ids seen. */
  seen: Count
  /** Live rows that should have been seen, and those of them that were not. */
  judged: Count
  missing: Count
  note: string | null
}

export interface SweepWindowTable {
  sweep_id: string
  number: Count
  /** Days of the created-date filter; null is open. */
  from_day: string | null
  to_day: string | null
  state: 'walking' | 'accepted'
  attempt: Count
  /** Page to ask next; 0 when the walk has read page 1. */
  next_page: Count
  pages: Count
  greatest_total: Count
  first_total: Count
  last_total: Count
  distinct_ids: Count
}

export interface SweepIdTable {
  sweep_id: string
  number: Count
  record_id: string
  created_at: string | null
  updated_at: string | null
}

/** A record that a scope has never shown: that it is missing there tells nothing. */
export interface OutOfSightTable {
  resource: string
  record_id: string
  scope_id: string
  since: Time
}

/** A record that a sweep saw and the warehouse does not hold, or holds in an older version. */
export interface UnreadTable {
  resource: string
  record_id: string
  /** As the service wrote them. */
  created_at: string | null
  updated_at: string | null
  noted_at: Time
}

/** What the service counts beside what the warehouse holds. */
export interface ListCountTable {
  resource: string
  run_id: string
  scope_id: string
  total: Count
  held: Count
  counted_at: Time
}

export interface DeletionLedger {
  'ops.key_scope': KeyScopeTable
  'ops.witness': WitnessTable
  'ops.deletion': DeletionTable
  'ops.sweep': SweepTable
  'ops.sweep_window': SweepWindowTable
  'ops.sweep_id': SweepIdTable
  'ops.out_of_sight': OutOfSightTable
  'ops.unread': UnreadTable
  'ops.list_count': ListCountTable
}
