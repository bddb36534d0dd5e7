/** Requisitions, with approval stages, agencies and their submissions, and each worker's tracked stages. */

import { shortId } from '../../records/short-id.ts'
import type { Draw } from '../draw.ts'
import { defined, iso, isoOf, type Link, type Ref, reference, refOf } from '../identity.ts'
import type { MasterData } from '../master/master-data.ts'
import { agencyRoles, approverRoles, type Contact, requestorRoles } from '../master/staff.ts'
import type { Seed } from '../seed.ts'
import type { Placement } from '../work/placements.ts'
import { type AgencyResponse, submissionAnswers } from './agency-responses.ts'
import { type Candidate, historyOf, stageLabels } from './recruitment.ts'
import type { RequisitionPlan } from './requisition-plan.ts'

export type Requisition = ReturnType<RequisitionWriter['write']>

const stageNames = ['Project', 'Commercial'] as const
const activities = ['Earthworks', 'Structures', 'Fit-out', 'Night possession', 'Maintenance']
const cancellations = ['Work postponed', 'Filled internally', 'Raised in error', 'Budget not released']

export class RequisitionWriter {
  readonly #draw: Draw
  readonly #master: MasterData
  readonly #activities: ReadonlyMap<string, readonly Ref[]>
  #written = 0

  constructor(seed: Seed, master: MasterData) {
    this.#draw = seed.draw('requisition records')
    this.#master = master
    this.#activities = new Map(
      master.companies.map(({ id, createdAt }) => [
        id,
        activities.map(name => ({ id: this.#draw.id(Date.parse(createdAt)), name })),
      ]),
    )
  }

  write(plan: RequisitionPlan) {
    const draw = this.#draw
    const { staff } = this.#master
    this.#written += 1
    const { company } = plan.site
    const project = this.#master.project(plan.site.project.id)
    const id = draw.id(plan.createdMs)
    const approvedMs = plan.approvals[1]
    const approver = () => staff.drawContact(draw, company.id, approverRoles)
    const approvers = stageNames.map(approver)
    const activity = draw.chance(0.6)
      ? draw.pick(this.#activities.get(company.id) as readonly Ref[])
      : undefined
    const answers = plan.responses.flatMap(response => submissionAnswers(draw, response))
    return defined({
      id,
      reference: reference('REQ', this.#written),
      status: plan.fate,
      quantity: plan.quantity,
      autoAssign: draw.chance(0.2),
      requestor: staff.drawContact(draw, company.id, requestorRoles),
      approver: approvedMs === undefined ? undefined : approvers[1],
      approvedDate: isoOf(approvedMs),
      approvalStages: this.#approvalStages(plan, approvers),
      company,
      project: refOf(project),
      region: project.region,
      sector: project.sector,
      site: refOf(plan.site),
      trade: refOf(this.#master.trade(company.id, plan.trade.name)),
      activity,
      startDate: iso(plan.startMs),
      endDate: iso(plan.endMs),
      cancellation: this.#cancellation(plan),
      agencies: plan.responses.map(response => this.#agency(plan, response)),
      stageTracking: this.#stageTracking(plan),
      submissionAnswers: answers,
      createdAt: iso(plan.createdMs),
      updatedAt: lastOf([iso(lastEvent(plan)), ...answers.map(answer => answer.updatedAt ?? '')]),
    })
  }

  /** The time of the first stage is sometimes missing; the final stage is the requisition's approval. */
  #approvalStages({ approvals }: RequisitionPlan, approvers: readonly (Contact | undefined)[]) {
    return stageNames.map((name, index) => {
      const at = approvals[index]
      const forgotten = index === 0 && this.#draw.chance(0.03)
      return {
        stage: index + 1,
        name,
        approved: at !== undefined,
        approvedAt: at === undefined || forgotten ? null : iso(at),
        approver: at === undefined ? null : (approvers[index] ?? null),
      }
    })
  }

  #cancellation({ fate, endedMs }: RequisitionPlan) {
    if (fate !== 'cancelled' || endedMs === undefined) return undefined
    const reason = this.#draw.pick(cancellations)
    const date = this.#draw.chance(0.04) ? null : iso(endedMs)
    return cancellation(reason, date)
  }

  #agency(plan: RequisitionPlan, { agency, ...response }: AgencyResponse) {
    const draw = this.#draw
    const { staff } = this.#master
    const submittedBy = staff.drawRef(draw, agency.id, agencyRoles)
    const assignedBy = staff.drawRef(draw, plan.site.company.id, approverRoles)
    return {
      id: agency.id,
      name: agency.name,
      offered: response.offered,
      assigned: response.placements.filter(placement => !plan.dropouts.has(placement)).length,
      dateReceived: iso(response.receivedMs),
      dateAccepted: isoOf(response.acceptedMs) ?? null,
      submissions: response.candidates.map(candidate => ({
        worker: refOf(candidate.worker),
        submittedAt: draw.chance(0.01) ? null : iso(submittedMs(candidate)),
        isRejected: candidate.rejectionReason !== undefined,
        rejectionReason: candidate.rejectionReason ?? null,
        ...(submittedBy && draw.chance(0.9) ? { submittedBy } : {}),
        ...(assignedBy && candidate.steps.at(-1)?.stage === 'assigned' ? { assignedBy } : {}),
      })),
    }
  }

  #stageTracking({ responses, site }: RequisitionPlan) {
    const draw = this.#draw
    const { staff } = this.#master
    if (!this.#master.company(site.company.id).stageTracking) return undefined
    return responses.flatMap(({ agency, candidates }) => {
      const people = [0, 1].flatMap(() => staff.drawRef(draw, site.company.id, approverRoles) ?? [])
      const actors = {
        company: people.length > 0 ? people : [site.company],
        agency: staff.drawRef(draw, agency.id, agencyRoles) ?? refOf(agency),
      }
      return candidates.map(candidate => {
        const { stage } = candidate.steps.at(-1) as Candidate['steps'][number]
        return {
          worker: refOf(candidate.worker),
          agency: refOf(agency),
          submittedAt: iso(submittedMs(candidate)),
          isRejected: candidate.rejectionReason !== undefined,
          stage,
          stageLabel: stageLabels[stage],
          history: historyOf(draw, candidate, actors),
        }
      })
    })
  }
}

export function cancellation(reason: string, date: string | null) {
  return { reason, date, comments: `${reason}, agreed with the project` }
}

function submittedMs(candidate: Candidate): number {
  return (candidate.steps[0] as Candidate['steps'][number]).atMs
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

export function linkTo({ id, reference: text }: Link) {
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
