/** GET /requisitions/{id}. */

import { readEndpoint } from '../declare/read.ts'
import { ownAgencies, ownAnswers } from '../keys/agency-view.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { tracksStages } from './stage-tracking.ts'

export const requisitionRead = readEndpoint({
  path: '/requisitions/:id',
  collection: 'requisitions',
  noun: 'requisition',
  scope: { company: 'company.id', agency: 'agencies.id' },
  includes: ['includeStageTracking'],
  present: (requisition, request, { includeStageTracking }) => {
    const tracked =
      includeStageTracking && tracksStages(request.world, (requisition.company as StoredRecord)?.id)
    const shown = ownAnswers(withoutFields(requisition, tracked ? [] : ['stageTracking']), request)
    const own = ownAgencies(request)
    if (!own) return shown
    return {
      ...shown,
      agencies: listOf(shown.agencies).filter(row => own(row.id)),
      ...(shown.stageTracking === undefined
        ? {}
        : {
            stageTracking: listOf(shown.stageTracking).filter(row => own((row.agency as StoredRecord).id)),
          }),
    }
  },
})

function listOf(value: unknown): readonly StoredRecord[] {
  return (value ?? []) as readonly StoredRecord[]
}
