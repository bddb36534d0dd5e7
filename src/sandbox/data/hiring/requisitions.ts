/** Requisitions: approval stages, agencies with their submissions, and the stages each worker went through. */

import { shortId } from '../../records/short-id.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import type { Company } from '../master/companies.ts'
import type { Project } from '../master/projects.ts'
import { agencyRoles, approverRoles, type Contact, requestorRoles, type Staff } from '../master/staff.ts'
import type { CompanyTrade } from '../master/trades.ts'
import type { Seed } from '../seed.ts'
import type { Placement } from '../work/placements.ts'
import type { Party } from './agency-responses.ts'
import { type Candidate, historyOf, stageLabels } from './recruitment.ts'
import type { RequisitionPlan } from './requisition-plan.ts'
import { submissionAnswers } from './submission-answers.ts'

export type Requisition = ReturnType<RequisitionWriter['write']>

export interface RequisitionLink {
  readonly id: string
  readonly reference: string
  readonly nanoid: string
}

export interface RequisitionCast {
  readonly companies: readonly Company[]
  readonly projects: readonly Project[]
  readonly trades: readonly CompanyTrade[]
  readonly staff: Staff
}

const stageNames = ['Project', 'Commercial'] as const
const activities = ['Earthworks', 'Structures', 'Fit-out', 'Night possession', 'Maintenance']
const cancellations = ['Work postponed', 'Filled internally', 'Raised in error', 'Budget not released']

export class RequisitionWriter {
  readonly #draw: Draw
  readonly #cast: RequisitionCast
  readonly #activities: ReadonlyMap<string, readonly Ref[]>
  readonly #projects: ReadonlyMap<string, Project>
  readonly #trades: ReadonlyMap<string, CompanyTrade>
  readonly #tracking: ReadonlySet<string>
  #written = 0

  constructor(seed: Seed, cast: RequisitionCast) {
    this.#draw = seed.draw('requisition records')
    this.#cast = cast
    this.#projects = new Map(cast.projects.map(project => [project.id, project]))
    this.#trades = new Map(cast.trades.map(row => [`${row.companyId} ${row.name}`, row]))
    this.#tracking = new Set(cast.companies.filter(row => row.stageTracking).map(row => row.id))
    const refs = (company: Company) =>
      activities.map(name => ({ id: this.#draw.id(Date.parse(company.createdAt)), name }))
    this.#activities = new Map(cast.companies.map(company => [company.id, refs(company)]))
  }

  write(plan: RequisitionPlan) {
    const draw = this.#draw
    const cast = this.#cast
    this.#written += 1
    const { company } = plan.site
    const project = this.#projects.get(plan.site.project.id) as Project
    const id = draw.id(plan.createdMs)
    const approvedMs = plan.approvals[1]
    const approver = () => cast.staff.drawContact(draw, company.id, approverRoles)
    const approvers = stageNames.map(approver)
    const activity = draw.chance(0.6) ? draw.pick(this.#activities.get(company.id) as readonly Ref[]) : null
    const answers = plan.parties.flatMap(party => submissionAnswers(draw, party))
    return {
      id,
      reference: reference('REQ', this.#written),
      status: plan.fate,
      quantity: plan.quantity,
      autoAssign: draw.chance(0.2),
      requestor: cast.staff.drawContact(draw, company.id, requestorRoles),
      ...(approvedMs === undefined ? {} : { approver: approvers[1], approvedDate: iso(approvedMs) }),
      approvalStages: this.#approvalStages(plan, approvers),
      company,
      project: refOf(project),
      region: project.region,
      sector: project.sector,
      site: refOf(plan.site),
      trade: refOf(this.#trades.get(`${company.id} ${plan.trade.name}`) as CompanyTrade),
      ...(activity ? { activity } : {}),
      startDate: iso(plan.startMs),
      endDate: iso(plan.endMs),
      ...this.#cancellation(plan),
      agencies: plan.parties.map(party => this.#party(plan, party)),
      ...(this.#tracking.has(company.id) ? { stageTracking: this.#stageTracking(plan) } : {}),
      submissionAnswers: answers,
      createdAt: iso(plan.createdMs),
      updatedAt: lastOf([iso(lastEvent(plan)), ...answers.map(answer => answer.updatedAt ?? '')]),
    }
  }

  /** An early stage may have lost its time; the final one is the requisition's approval. */
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
    if (fate !== 'cancelled' || endedMs === undefined) return {}
    const reason = this.#draw.pick(cancellations)
    const date = this.#draw.chance(0.04) ? null : iso(endedMs)
    return { cancellation: { reason, date, comments: `${reason}, agreed with the project` } }
  }

  #party(plan: RequisitionPlan, { agency, ...party }: Party) {
    const draw = this.#draw
    const cast = this.#cast
    const submittedBy = cast.staff.drawRef(draw, agency.id, agencyRoles)
    const assignedBy = cast.staff.drawRef(draw, plan.site.company.id, approverRoles)
    return {
      id: agency.id,
      name: agency.name,
      offered: party.offered,
      assigned: party.placements.filter(placement => !plan.dropouts.has(placement)).length,
      dateReceived: iso(party.receivedMs),
      dateAccepted: party.acceptedMs === undefined ? null : iso(party.acceptedMs),
      submissions: party.candidates.map(candidate => ({
        worker: refOf(candidate.worker),
        submittedAt: draw.chance(0.01) ? null : iso(submittedMs(candidate)),
        isRejected: candidate.rejectionReason !== undefined,
        rejectionReason: candidate.rejectionReason ?? null,
        ...(submittedBy && draw.chance(0.9) ? { submittedBy } : {}),
        ...(assignedBy && candidate.steps.at(-1)?.stage === 'assigned' ? { assignedBy } : {}),
      })),
    }
  }

  #stageTracking({ parties, site }: RequisitionPlan) {
    const draw = this.#draw
    const cast = this.#cast
    return parties.flatMap(({ agency, candidates }) => {
      const people = [0, 1].flatMap(() => cast.staff.drawRef(draw, site.company.id, approverRoles) ?? [])
      const actors = {
        company: people.length > 0 ? people : [site.company],
        agency: cast.staff.drawRef(draw, agency.id, agencyRoles) ?? refOf(agency),
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

function submittedMs(candidate: Candidate): number {
  return (candidate.steps[0] as Candidate['steps'][number]).atMs
}

function lastEvent({ createdMs, approvals, endedMs, parties }: RequisitionPlan): number {
  const events = parties.flatMap(({ receivedMs, acceptedMs, candidates }) => [
    receivedMs,
    acceptedMs ?? 0,
    ...candidates.flatMap(({ steps }) => steps.map(step => step.atMs)),
  ])
  return Math.max(createdMs, endedMs ?? 0, ...approvals, ...events)
}

function lastOf(times: readonly string[]): string {
  return [...times].sort().at(-1) as string
}

export function linkTo({ id, reference: text }: { id: string; reference: string }): RequisitionLink {
  return { id, reference: text, nanoid: shortId(id) }
}

/** For each assigned worker's placement, the requisition that it answers. */
export function requisitionsByPlacement(
  plans: readonly RequisitionPlan[],
  requisitions: readonly Requisition[],
): ReadonlyMap<Placement, Requisition> {
  return new Map(
    plans.flatMap((plan, index) =>
      plan.parties.flatMap(party =>
        party.placements.map(placement => [placement, requisitions[index] as Requisition] as const),
      ),
    ),
  )
}
