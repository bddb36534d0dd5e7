/** One requisition by hand, with the candidates that an agency put forward and how they got on. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { put } from './hand-made.ts'

export interface Candidate {
  readonly id: string
  readonly stages: readonly string[]
  readonly rejected?: boolean
  readonly agency?: string
  /** Days from one stage to the next. */
  readonly days?: readonly number[]
  /** Whether the record lists the stages from the last to the first. */
  readonly isNewestFirst?: boolean
  /** Place of a stage that has no date. */
  readonly undated?: number
}

const june = Date.parse('2026-06-01T09:00:00Z')
export const at = (days: number): string => new Date(june + days * 86_400_000).toISOString()

/** One requisition `r` of company `c`, asked of agency `a`, and how its candidates got on. */
export async function recruit(engine: Engine, candidates: readonly Candidate[]): Promise<void> {
  const place = { company_id: 'c', project_id: 'p', trade_id: 't' }
  await put(engine, 'fact_requisition', [
    { requisition_id: 'r', reference: 'R-1', status: 'approved', created_at: at(-9), ...place },
  ])
  await put(engine, 'fact_requisition_agency', [
    {
      requisition_agency_key: 'ra',
      requisition_id: 'r',
      agency_id: 'a',
      offered: 3,
      assigned: 2,
      received_at: at(-2),
      ...place,
    },
  ])
  for (const candidate of candidates) await follow(engine, candidate)
}

/** Steps as they are loaded: each ends when the next one that has a date begins, one before a step without a date never. */
async function follow(engine: Engine, candidate: Candidate): Promise<void> {
  const { id, stages, rejected = false, agency = 'a', days = [], isNewestFirst = false, undated } = candidate
  const who = { requisition_id: 'r', agency_id: agency, worker_id: id }
  await put(engine, 'fact_submission', [{ submission_key: id, ...who }])
  await put(engine, 'fact_submission_stage', [
    { submission_stage_key: id, ...who, is_rejected: rejected, current_stage: stages.at(-1) ?? null },
  ])
  let passed = 0
  const steps = stages.map((stage, index) => {
    const begun = passed
    passed += days[index] ?? 1
    const ordinal = isNewestFirst ? stages.length - index : index + 1
    return { stage, ordinal, begun: index === undated ? null : begun }
  })
  const rows = steps.map(({ stage, ordinal, begun }, index) => {
    const later = steps.slice(index + 1).find(one => one.begun !== null)?.begun
    const next = begun === null ? null : (later ?? null)
    return {
      stage_event_key: `${id}${ordinal}`,
      submission_stage_key: id,
      ...who,
      event_ordinal: ordinal,
      stage,
      event_at: begun === null ? null : at(begun),
      exited_at: next === null ? null : at(next),
      days_in_stage: next === null ? null : next - Number(begun),
    }
  })
  if (rows.length > 0) await put(engine, 'fact_stage_event', rows)
}
