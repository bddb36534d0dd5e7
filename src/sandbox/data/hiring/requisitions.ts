/** Generates requisitions, with approval stages, agencies and their submissions, and each worker's tracked stages. */
import { shortId } from '../../record.ts'
import type { Draw } from '../draw.ts'
import { defined, iso, isoOf, type RecordLink, type Ref, refOf } from '../identity.ts'
import type { Company } from '../master/companies.ts'
import type { MasterData, RecordMaking } from '../master/master-data.ts'
import { agencyRoles, approverRoles, type Contact, requestorRoles } from '../master/users.ts'
import type { Placement } from '../work/placements.ts'
import { type AgencyResponse, historyOf, submissionAnswers } from './agency-responses.ts'
import type { RequisitionPlan } from './requisition-plan.ts'

export type Requisition = ReturnType<typeof requisitionFor>

const stageNames = ['Project', 'Commercial'] as const
const activityNames = ['Earthworks', 'Structures', 'Fit-out', 'Night possession', 'Maintenance']
const cancellations = ['Work postponed', 'Filled internally', 'Raised in error', 'Budget not released']

/** Inputs for requisitions, with the activities of each company by its id. */
type RequisitionMaking = RecordMaking & { readonly activities: ReadonlyMap<string, readonly Ref[]> }

export function makeRequisitions(master: MasterData, plans: readonly RequisitionPlan[]): Requisition[] {
  const making = master.making('requisition records')
  const activitiesOf = ({ createdAt }: Company) =>
    activityNames.map(name => ({ id: making.draw.id(Date.parse(createdAt)), name }))
  const activities = new Map(master.companies.map(company => [company.id, activitiesOf(company)]))
  return plans.map(plan => requisitionFor({ ...making, activities }, plan))
}

function requisitionFor(making: RequisitionMaking, plan: RequisitionPlan) {
  const { draw, master } = making
  const { company } = plan.site
  const project = master.project(plan.site.project.id)
  const id = draw.id(plan.createdMs)
  const approvedMs = plan.approvals[1]
  const approvers = stageNames.map(() => master.staff.drawContact(draw, company.id, approverRoles))
  const activity = draw.chance(0.6) ? draw.pick(making.activities.get(company.id) ?? []) : undefined
  const answers = plan.responses.flatMap(response => submissionAnswers(draw, response))
  return defined({
    id,
    reference: draw.reference('REQ'),
    status: plan.fate,
    quantity: plan.quantity,
    autoAssign: draw.chance(0.2),
    requestor: master.staff.drawContact(draw, company.id, requestorRoles),
    approver: approvedMs === undefined ? undefined : approvers[1],
    approvedDate: isoOf(approvedMs),
    approvalStages: approvalStages(draw, plan, approvers),
    company,
    project: refOf(project),
    region: project.region,
    sector: project.sector,
    site: refOf(plan.site),
    trade: refOf(master.trade(company.id, plan.trade.name)),
    activity,
    startDate: iso(plan.startMs),
    endDate: iso(plan.endMs),
    cancellation: cancellationOf(draw, plan),
    agencies: plan.responses.map(response => agencyOf(making, plan, response)),
    stageTracking: stageTracking(making, plan),
    submissionAnswers: answers,
    createdAt: iso(plan.createdMs),
    updatedAt: lastOf([iso(lastEvent(plan)), ...answers.map(answer => answer.updatedAt ?? '')]),
  })
}

/** The time of the first stage is sometimes missing; the final stage is the requisition's approval. */
function approvalStages(
  draw: Draw,
  { approvals }: RequisitionPlan,
  approvers: readonly (Contact | undefined)[],
) {
  return stageNames.map((name, index) => {
    const at = approvals[index]
    const forgotten = index === 0 && draw.chance(0.03)
    return {
      stage: index + 1,
      name,
      approved: at !== undefined,
      approvedAt: at === undefined || forgotten ? null : iso(at),
      approver: at === undefined ? null : (approvers[index] ?? null),
    }
  })
}

function cancellationOf(draw: Draw, { fate, endedMs }: RequisitionPlan) {
  if (fate !== 'cancelled' || endedMs === undefined) return undefined
  const reason = draw.pick(cancellations)
  return cancellation(reason, draw.chance(0.04) ? null : iso(endedMs))
}

function agencyOf(
  { draw, master }: RecordMaking,
  plan: RequisitionPlan,
  { agency, ...response }: AgencyResponse,
) {
  const submittedBy = master.staff.drawRef(draw, agency.id, agencyRoles)
  const assignedBy = master.staff.drawRef(draw, plan.site.company.id, approverRoles)
  return {
    id: agency.id,
    name: agency.name,
    offered: response.offered,
    assigned: response.placements.filter(placement => !plan.dropouts.has(placement)).length,
    dateReceived: iso(response.receivedMs),
    dateAccepted: isoOf(response.acceptedMs) ?? null,
    submissions: response.candidates.map(({ worker, steps, rejectionReason }) => ({
      worker: refOf(worker),
      submittedAt: draw.chance(0.01) ? null : iso(steps[0].atMs),
      isRejected: rejectionReason !== undefined,
      rejectionReason: rejectionReason ?? null,
      ...(submittedBy && draw.chance(0.9) ? { submittedBy } : {}),
      ...(assignedBy && steps.at(-1)?.stage === 'assigned' ? { assignedBy } : {}),
    })),
  }
}

function stageTracking({ draw, master }: RecordMaking, { responses, site: { company } }: RequisitionPlan) {
  const { staff } = master
  if (!master.company(company.id).stageTracking) return undefined
  return responses.flatMap(({ agency, candidates }) => {
    const people = [0, 1].flatMap(() => staff.drawRef(draw, company.id, approverRoles) ?? [])
    const actors = {
      company: people.length > 0 ? people : [company],
      agency: staff.drawRef(draw, agency.id, agencyRoles) ?? refOf(agency),
    }
    return candidates.map(candidate => {
      const history = historyOf(draw, candidate, actors)
      const { stage, stageLabel } = history.at(-1) as (typeof history)[number]
      return {
        worker: refOf(candidate.worker),
        agency: refOf(agency),
        submittedAt: iso(candidate.steps[0].atMs),
        isRejected: candidate.rejectionReason !== undefined,
        stage,
        stageLabel,
        history,
      }
    })
  })
}

export function cancellation(reason: string, date: string | null) {
  return { reason, date, comments: `${reason}, agreed with the project` }
}

function lastEvent({ createdMs, approvals, endedMs, responses }: RequisitionPlan): number {
  const events = responses.flatMap(({ receivedMs, acceptedMs, candidates }) => [
    receivedMs,
    acceptedMs ?? 0,
    ...candidates.flatMap(({ steps }) => steps.map(step => step.atMs)),
  ])
  return Math.max(createdMs, endedMs ?? 0, ...approvals, ...events)
}

function lastOf(times: readonly string[]): string {
  return [...times].sort().at(-1) as string
}

export function linkTo({ id, reference: text }: RecordLink) {
  return { id, reference: text, nanoid: shortId(id) }
}

/** Placement of an assigned worker -> its requisition. */
export function requisitionsByPlacement(
  plans: readonly RequisitionPlan[],
  requisitions: readonly Requisition[],
): ReadonlyMap<Placement, Requisition> {
  return new Map(
    plans.flatMap((plan, index) =>
      plan.responses.flatMap(response =>
        response.placements.map(placement => [placement, requisitions[index] as Requisition] as const),
      ),
    ),
  )
}
