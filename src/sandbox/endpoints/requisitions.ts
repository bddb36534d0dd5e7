/** GET /requisitions/{id}. */
import type { StoredRecord } from '../record.ts'
import { withoutFields } from '../select-fields.ts'
import { ownAgencies, ownAnswers } from './agency-view.ts'
import { readEndpoint } from './read.ts'
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
