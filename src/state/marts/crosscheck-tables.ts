/** Of the ledger: how the service computes its metrics, and our figures beside its own. */

/** One row a rule of the definition. */
export interface MetricCalibrationTable {
  rule: string
  /** Of the list of ambiguities in docs/metrics.md; 0 where it has none. */
  rule_no: number
  metric: string
  state: string
  /** Lists with commas around, so that a word can be looked for whole; empty for null. */
  chosen: string
  /** JSON. */
  candidates_alive: string
  /** JSON: figures that agreed and were compared, by reading. */
  evidence: string
  calls_used: number
  definition_id: string
  /** ISO 8601, UTC. */
  calibrated_at: string
  run_id: string
  contract_version: string
}

/** One row a group and figure, of the last cross-check. */
export interface CrosscheckTable {
  run_id: string
  metric: string
  group_by: string
  /** Ids, month and first day of the week, with bars between. */
  group_key: string
  group_label: string
  figure: string
  ours: number | null
  theirs: number | null
  difference: number | null
  /** `uncovered`: of requisitions that are known by reference only, so that nothing can bring them yet. */
  verdict: 'equal' | 'explained' | 'uncovered' | 'unexplained'
  reason: string | null
  /** JSON list of the records behind the difference. */
  records: string | null
  definition_id: string
  checked_at: string
}
