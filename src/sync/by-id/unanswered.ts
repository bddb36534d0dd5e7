/** Ids about which the service failed leave their resource incomplete. */
import { formatNumber } from '../../lib/counted.ts'
import { countUnanswered, type DueQuestion } from '../../state/by-id/due.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { Incomplete } from '../run/incomplete.ts'

/** Throws Incomplete for ids that no run has got an answer about. */
export async function requireAnswers(engine: Engine, question: DueQuestion): Promise<void> {
  const { unanswered, known } = await countUnanswered(engine, question)
  if (unanswered === 0) return
  throw new Incomplete({
    resource: question.resource,
    seen: known - unanswered,
    expected: known,
    reason: `the service failed when it was asked for ${formatNumber(unanswered)} of them`,
    next: 'they are fetched again in an hour at the earliest; tell the service about it if it stays',
  })
}
