/** Texts of the ledger that hold whole records. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

export interface QuarantinedText {
  readonly quarantine_id: string
  readonly resource: string
  readonly text: string | null
  readonly payload: string
}

export const quarantinedTexts = (engine: Engine): Promise<QuarantinedText[]> =>
  ledger(engine)
    .selectFrom('ops.quarantine')
    .select(['quarantine_id', 'resource', 'text', 'payload'])
    .orderBy('quarantine_id')
    .execute()
