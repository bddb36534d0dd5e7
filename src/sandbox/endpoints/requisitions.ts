/** GET /requisitions/{id}. */
import { requisitions } from '../../contract/resources/requisitions.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { ownAgencies, withOwnAnswers } from '../keys/agencies.ts'
import { tracksStages } from '../metrics/rows.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'

export const requisitionRead = readEndpoint({
  path: '/requisitions/:id',
  scope: 'read:projects',
  tool: 'get_requisition',
  summary: 'One requisition.',
  returns: recordOf('Requisition', requisitions),
  collection: 'requisitions',
  noun: 'requisition',
  within: { company: 'company.id', agency: 'agencies.id' },
  includes: {
    includeStageTracking: {
      field: 'stageTracking',
      meaning: 'Adds the recruitment stages, where the company tracks them.',
    },
  },
  present: (requisition, request) => {
    const isTracked = tracksStages(request.world, (requisition.company as StoredRecord)?.id)
    const shown = withOwnAnswers(withoutFields(requisition, isTracked ? [] : ['stageTracking']), request)
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
