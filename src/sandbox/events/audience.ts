/** Whom an event concerns: the company and agencies of its record, and the webhooks it is withheld from. */
import { type EventType, eventRule } from '../../contract/events.ts'
import { isBetweenProviderAndClient } from '../keys/agencies.ts'
import { pathReader, type StoredRecord, valuesAt } from '../records/record.ts'

export interface Audience {
  readonly companyId?: string
  /** Empty when no agency has a part in the record. */
  readonly agencyIds?: readonly string[]
  /** Drafts are withheld from everybody; what a managed service provider bills its client, from agencies. */
  readonly withheldFrom?: 'everybody' | 'agencies'
}

/** Tells webhooks that something happened to a record; without an audience the sandbox looks the record up. */
export type Raise = (type: EventType, id: string, audience?: Audience) => void

const companyId = pathReader('company.id')
const agencyId = pathReader('agency.id')

/** From the record itself: as it is after the change, or as it was before a deletion. */
export function audienceOf(type: EventType, record: StoredRecord): Audience {
  const company = companyId(record) ?? record.companyId
  const withheldFrom = withheld(type, record)
  return {
    ...(typeof company === 'string' ? { companyId: company } : {}),
    agencyIds: Array.isArray(record.agencies)
      ? (record.agencies as RequisitionAgency[]).filter(takesPart(type)).map(agency => agency.id)
      : (valuesAt(record, agencyId) as string[]),
    ...(withheldFrom ? { withheldFrom } : {}),
  }
}

interface RequisitionAgency {
  readonly id: string
  readonly assigned?: number
  readonly dateReceived?: string | null
  readonly submissions?: readonly { readonly isRejected?: boolean }[]
}

/** The part in a requisition that an agency must have to be told of the event. */
function takesPart(type: EventType): (agency: RequisitionAgency) => boolean {
  const responded = (agency: RequisitionAgency) => (agency.submissions ?? []).length > 0
  const supplied = (agency: RequisitionAgency) => (agency.assigned ?? 0) > 0
  const received = (agency: RequisitionAgency) => typeof agency.dateReceived === 'string'
  switch (type) {
    case 'requisition_worker_rejected':
      return agency => (agency.submissions ?? []).some(submission => submission.isRejected)
    case 'requisition_assigned':
      return supplied
    case 'requisition_filled':
      return agency => received(agency) || responded(agency) || supplied(agency)
    default:
      return agency => received(agency) || responded(agency)
  }
}

function withheld(type: EventType, record: StoredRecord): Audience['withheldFrom'] {
  const isDraft = record.status === 'draft'
  if (isDraft && eventRule(type).entity === 'invoice') return 'everybody'
  if (type === 'requisition_received' && (isDraft || awaitsApproval(record))) return 'everybody'
  return isBetweenProviderAndClient(record) ? 'agencies' : undefined
}

function awaitsApproval(requisition: StoredRecord): boolean {
  const stages = (requisition.approvalStages ?? []) as readonly { readonly approved: boolean }[]
  return stages.some(stage => !stage.approved)
}
