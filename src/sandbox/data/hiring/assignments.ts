/** Assignments: the terms of a placement, its documents and its history. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import type { PurchaseOrder } from '../billing/purchase-orders.ts'
import type { Draw } from '../draw.ts'
import { defined, iso, isoOf, partId, refOf } from '../identity.ts'
import { metaFieldDefinitions } from '../master/company-config.ts'
import type { MasterData } from '../master/master-data.ts'
import { agencyRoles, type Staff } from '../master/staff.ts'
import { costCodes } from '../names.ts'
import type { Seed } from '../seed.ts'
import type { Placement } from '../work/placements.ts'
import { assignmentHistory } from './assignment-history.ts'
import type { Engagement } from './engagements.ts'
import { linkTo, type Requisition } from './requisitions.ts'
import { plannedValues, shiftPattern, upliftsOf } from './shift-pattern.ts'

/** The records that assignments link to. */
interface Links {
  readonly requisitions: ReadonlyMap<Placement, Requisition>
  readonly orders: ReadonlyMap<Placement, PurchaseOrder>
  readonly replacedBy: ReadonlyMap<Placement, Placement>
}

const umbrellas = ['Brightside Umbrella', 'Cover Pay', 'Parasol House']
const activities = ['Excavation', 'Formwork', 'First fix', 'Commissioning']
const customDocumentsShare = 0.4
const documentKinds = [
  ['Site rules', 'Signed by the worker'],
  ['Medical certificate', 'For safety critical work'],
] as const

export class AssignmentWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #master: MasterData
  readonly #links: Links
  readonly #historyDraw: Draw

  constructor(seed: Seed, master: MasterData, links: Links) {
    this.#seed = seed
    this.#draw = seed.draw('assignments')
    this.#master = master
    this.#links = links
    this.#historyDraw = seed.draw('assignment trails')
  }

  write(engagement: Engagement) {
    const draw = this.#draw
    const { placement, status } = engagement
    const { staff } = this.#master
    const documents = documentsOf(draw, engagement, staff)
    const { endMs } = this.#seed
    const history = assignmentHistory(this.#historyDraw, engagement, { staff, endMs })
    return defined({
      ...placement.assignment,
      status,
      payType: placement.payType,
      rateType: placement.rateType,
      ...this.#place(placement),
      umbrella: placement.rateType === 'cis' ? undefined : draw.pick(umbrellas),
      workActivity: draw.chance(0.5) ? draw.pick(activities) : undefined,
      ...this.#dates(engagement),
      ...this.#distance(),
      ...this.#terms(engagement),
      ...history.outcome,
      ...this.#linked(engagement),
      ...documents,
      activities: history.activities,
      submissionAnswers: placement.answers,
      createdAt: iso(placement.createdMs),
      updatedAt: iso(Math.max(history.lastMs, placement.createdMs)),
    })
  }

  #place(placement: Placement) {
    const { company, site, agency, worker } = placement
    const project = this.#master.project(placement.project.id)
    const trade = this.#master.trade(company.id, placement.trade.name)
    const [tag] = trade.tags
    return {
      company,
      project: refOf(project),
      region: project.region,
      sector: project.sector,
      site,
      trade: refOf(trade),
      tag: tag && refOf(tag),
      agency: refOf(agency),
      worker,
      requisition: this.#requisitionOf(placement),
      purchaseOrder: this.#links.orders.get(placement)?.reference,
    }
  }

  #requisitionOf(placement: Placement) {
    const requisition = this.#links.requisitions.get(placement)
    return requisition && linkTo(requisition)
  }

  /** Full weeks are counted up to the end of the assignment or of the data. */
  #dates({ status, startMs, endMs, confirmedMs, closedMs }: Engagement) {
    const sinceMs = confirmedMs ?? startMs
    const untilMs = Math.min(status === 'cancelled' ? sinceMs : endMs, this.#seed.endMs)
    return {
      startDate: iso(startMs),
      endDate: iso(endMs),
      timesheetStartDate: iso(startMs),
      completedDate: status === 'completed' ? isoOf(closedMs) : undefined,
      confirmationDate: isoOf(confirmedMs),
      weeksElapsed: Math.max(0, Math.floor((untilMs - sinceMs) / weekMs)),
    }
  }

  #distance() {
    const draw = this.#draw
    const miles = Math.round(draw.fraction() ** 2 * 900) / 10
    if (miles < 50) return { workerDistanceToSite: miles, lodgeApplicable: false }
    const lodgeMiles = Math.round(draw.fraction() * 100) / 10
    const minutes = (perMile: number) => Math.round(lodgeMiles * perMile)
    return {
      workerDistanceToSite: miles,
      workerLodgeDistanceToSite: lodgeMiles,
      lodgeApplicable: true,
      lodge: {
        dailyAmountOverride: draw.pick([46.5, 50, 55]),
        address: { lineOne: '4 Canal Side', city: 'Leeds', country: 'United Kingdom', code: 'LS1 4BB' },
        distanceMiles: lodgeMiles,
        travel: {
          walkMinutes: minutes(20),
          busMinutes: minutes(6),
          carMinutes: minutes(3),
          trainMinutes: minutes(4),
          calculatedAt: iso(this.#seed.firstWeekMs),
        },
      },
    }
  }

  #terms({ placement, startMs, endMs }: Engagement) {
    const draw = this.#draw
    const { wd } = placement.rates
    const company = this.#master.company(placement.company.id)
    const override = (share: number, value: number) => {
      const active = draw.chance(share)
      return { active, value: active ? value : 0 }
    }
    const planned = shiftPattern(placement)
    const dates = { startDate: iso(startMs), endDate: iso(endMs) }
    const rates = { pay: wd.pay, charge: wd.charge }
    return {
      shiftPattern: planned,
      costCode: draw.pick(costCodes),
      rates,
      values: plannedValues({ ...dates, shiftPattern: planned, rates }),
      rateOverrides: { markup: override(0.05, 0.15), employerCosts: override(0.03, 0.2) },
      ...upliftsOf(placement.rates, company.config.enhancedUplifts),
    }
  }

  #linked({ placement, replaces, cloneOf }: Engagement) {
    const replacedBy = this.#links.replacedBy.get(placement)
    const replacement = defined({
      replacedBy: replacedBy?.assignment,
      replacementFor: replaces?.assignment,
      requisition: this.#requisitionOf(replaces ?? placement),
      reason: 'The worker left before the work was done',
      type: 'likeForLike',
    })
    return {
      replacement: replaces || replacedBy ? replacement : undefined,
      clone: cloneOf && { date: iso(placement.createdMs), original: cloneOf.assignment },
    }
  }
}

/** Status determination, key information, required competency, custom documents and custom fields. */
function documentsOf(draw: Draw, engagement: Engagement, staff: Staff) {
  const { placement, status, startMs } = engagement
  const { id } = placement.assignment
  const file = (folder: string) => `https://files.example.com/${folder}/${id}.pdf`
  const isContractor = placement.rateType === 'psc'
  return {
    sds: isContractor ? { status: draw.pick(['inside', 'outside']), attachment: file('sds') } : undefined,
    sdc: { status: draw.chance(0.9) ? 'applies' : 'doesNotApply', attachment: file('sdc') },
    kid: status === 'pending' ? undefined : file('kid'),
    competencyRequirements: draw.chance(0.15)
      ? [
          {
            rule: 'mandatory',
            items: [{ name: 'Confined spaces' }],
            groups: [{ items: [{ name: 'First aid' }] }],
          },
        ]
      : [],
    customDocuments: draw.chance(customDocumentsShare) ? customDocuments(draw, engagement, staff) : [],
    metaFields: metaFieldDefinitions.map(({ display, ...field }) => ({
      ...field,
      value: field.type === 'date' ? iso(startMs).slice(0, 10) : `Gang ${draw.between(1, 9)}`,
      display: [...display],
    })),
  }
}

/** Documents that are not handed in yet have no attachment. */
function customDocuments(draw: Draw, { placement }: Engagement, staff: Staff) {
  const { id } = placement.assignment
  const uploader = staff.drawRef(draw, placement.agency.id, agencyRoles)
  return documentKinds.map(([name, description], index) => {
    const documentId = partId(id, index)
    const base = {
      id: documentId,
      name,
      description,
      required: draw.chance(0.5),
      uploadPermissions: { company: true, supplier: true },
    }
    if (!uploader || !draw.chance(0.7)) return base
    return {
      ...base,
      attachment: `https://files.example.com/documents/${documentId}.pdf`,
      uploadedBy: uploader,
      uploadedAt: iso(placement.createdMs),
      expiry: iso(placement.createdMs + draw.between(100, 700) * dayMs),
    }
  })
}
