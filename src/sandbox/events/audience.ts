/** Decides whom an event concerns, and draws records that events can be about. */
import { type EventEntity, type EventType, eventRule, eventTypes } from '../../contract/events.ts'
import type { Draw } from '../data/draw.ts'
import { isBetweenProviderAndClient } from '../keys/scope.ts'
import { pathReader, type StoredRecord, valuesAt } from '../record.ts'
import type { CollectionName, World } from '../world.ts'

export interface Audience {
  readonly companyId?: string
  /** Empty when no agency has a part in the record. */
  readonly agencyIds?: readonly string[]
  /** Drafts are withheld from everybody, MSP-to-client invoices from agencies. */
  readonly withheldFrom?: 'everybody' | 'agencies'
}

/** Sends webhooks an event about a record; without an audience, the sandbox derives it from the record. */
export type EventRaiser = (type: EventType, id: string, audience?: Audience) => void

const companyId = pathReader('company.id')
const agencyId = pathReader('agency.id')

/** Derived from the record: as it is after the change, or as it was before a deletion. */
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

/** Whether an agency takes enough part in a requisition to receive the event. */
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

/** The collection that holds the records of an entity. */
export const homes: Readonly<Record<EventEntity, CollectionName>> = {
  timesheet: 'timesheets',
  expense: 'expenses',
  invoice: 'invoices',
  requisition: 'requisitions',
  assignment: 'assignments',
  credit_note: 'creditNotes',
  trade: 'trades',
  rate: 'rates',
  purchase_order: 'purchaseOrders',
}

/** Undefined for a record that the sandbox does not have. */
export function knownAudience(world: World, type: EventType, id: string): Audience | undefined {
  const record = world.get(homes[eventRule(type).entity], id)
  return record && audienceOf(type, record)
}

interface EventSubject {
  readonly id: string
  readonly entity: EventEntity
  readonly record: StoredRecord
}

/** Raises an event that can happen to an existing record and leaves it in existence. */
export function raiseUpdate(raise: EventRaiser, draw: Draw, { entity, id, record }: EventSubject): void {
  const isUpdate = (type: EventType) => {
    const rule = eventRule(type)
    return rule.entity === entity && !rule.deletes && !type.endsWith('_created')
  }
  const type = draw.pick(eventTypes.filter(isUpdate))
  raise(type, id, audienceOf(type, record))
}

/** Weights of the entities in a burst; the others have 1. Most events are about timesheets. */
const shares: Readonly<Partial<Record<EventEntity, number>>> = { timesheet: 8, expense: 4, assignment: 3 }

/** Draws up to `count` subjects for a burst. */
export function drawSubjects(world: World, draw: Draw, count: number): readonly EventSubject[] {
  const present = (Object.keys(homes) as EventEntity[]).filter(entity => world.at(homes[entity], 0))
  const weights = present.map(entity => [entity, shares[entity] ?? 1] as const)
  const draws = Array.from({ length: present.length > 0 ? count : 0 }, () => {
    const entity = draw.weighted(weights)
    const record = world.at(homes[entity], draw.fraction())
    return record && { id: String(record.id), entity, record }
  })
  return draws.filter(subject => subject !== undefined)
}
