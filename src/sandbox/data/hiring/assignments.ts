/** Generates assignments: the terms of a placement with its planned week, its documents and its history. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import type { PurchaseOrder } from '../agreements.ts'
import type { Draw, Seed } from '../draw.ts'
import { defined, iso, isoOf, partId, type Ref, refOf } from '../identity.ts'
import { type Company, metaFieldDefinitions } from '../master/companies.ts'
import type { MasterData, RecordMaking } from '../master/master-data.ts'
import { agencyRoles, approverRoles } from '../master/users.ts'
import { costCodes } from '../names.ts'
import { type Rates, times } from '../work/pay.ts'
import type { Placement } from '../work/placements.ts'
import type { Engagement } from './engagements.ts'
import { linkTo, type Requisition } from './requisitions.ts'

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

export type Assignment = ReturnType<typeof assignmentFor>

type AssignmentMaking = RecordMaking & { readonly historyDraw: Draw; readonly links: Links }

export function makeAssignments(
  master: MasterData,
  engagements: readonly Engagement[],
  links: Links,
): Assignment[] {
  const making = master.making('assignments')
  const historyDraw = master.seed.draw('assignment trails')
  return engagements.map(engagement => assignmentFor({ ...making, historyDraw, links }, engagement))
}

function assignmentFor(making: AssignmentMaking, engagement: Engagement) {
  const { draw, seed } = making
  const { placement, status } = engagement
  const documents = documentsOf(making, engagement)
  const history = assignmentHistory({ ...making, draw: making.historyDraw }, engagement)
  return defined({
    ...placement.assignment,
    status,
    payType: placement.payType,
    rateType: placement.rateType,
    ...partiesOf(making, placement),
    umbrella: placement.rateType === 'cis' ? undefined : draw.pick(umbrellas),
    workActivity: draw.chance(0.5) ? draw.pick(activities) : undefined,
    ...datesOf(seed, engagement),
    ...distanceOf(making),
    ...termsOf(making, engagement),
    ...history.outcome,
    ...linksOf(making.links, engagement),
    ...documents,
    activities: history.activities,
    submissionAnswers: placement.answers,
    createdAt: iso(placement.createdMs),
    updatedAt: iso(Math.max(history.lastMs, placement.createdMs)),
  })
}

function partiesOf({ master, links }: AssignmentMaking, placement: Placement) {
  const { company, site, agency, worker } = placement
  const project = master.project(placement.project.id)
  const trade = master.trade(company.id, placement.trade.name)
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
    requisition: requisitionOf(links, placement),
    purchaseOrder: links.orders.get(placement)?.reference,
  }
}

function requisitionOf({ requisitions }: Links, placement: Placement) {
  const requisition = requisitions.get(placement)
  return requisition && linkTo(requisition)
}

/** Full weeks are counted up to the end of the assignment or of the data. */
function datesOf(seed: Seed, { status, startMs, endMs, confirmedMs, closedMs }: Engagement) {
  const sinceMs = confirmedMs ?? startMs
  const untilMs = Math.min(status === 'cancelled' ? sinceMs : endMs, seed.endMs)
  return {
    startDate: iso(startMs),
    endDate: iso(endMs),
    timesheetStartDate: iso(startMs),
    completedDate: status === 'completed' ? isoOf(closedMs) : undefined,
    confirmationDate: isoOf(confirmedMs),
    weeksElapsed: Math.max(0, Math.floor((untilMs - sinceMs) / weekMs)),
  }
}

function distanceOf({ draw, seed }: RecordMaking) {
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
        calculatedAt: iso(seed.firstWeekMs),
      },
    },
  }
}

function termsOf({ draw, master }: RecordMaking, { placement, startMs, endMs }: Engagement) {
  const { pay, charge } = placement.rates.wd
  const { config } = master.company(placement.company.id)
  const override = (share: number, value: number) => {
    const active = draw.chance(share)
    return { active, value: active ? value : 0 }
  }
  const terms = { shiftPattern: shiftPattern(placement), rates: { pay, charge } }
  return {
    shiftPattern: terms.shiftPattern,
    costCode: draw.pick(costCodes),
    rates: terms.rates,
    values: plannedValues({ startDate: iso(startMs), endDate: iso(endMs), ...terms }),
    rateOverrides: { markup: override(0.05, 0.15), employerCosts: override(0.03, 0.2) },
    ...upliftsOf(placement.rates, config.enhancedUplifts),
  }
}

function linksOf(links: Links, { placement, replaces, cloneOf }: Engagement) {
  const replacedBy = links.replacedBy.get(placement)
  const replacement = defined({
    replacedBy: replacedBy?.assignment,
    replacementFor: replaces?.assignment,
    requisition: requisitionOf(links, replaces ?? placement),
    reason: 'The worker left before the work was done',
    type: 'likeForLike',
  })
  return {
    replacement: replaces || replacedBy ? replacement : undefined,
    clone: cloneOf && { date: iso(placement.createdMs), original: cloneOf.assignment },
  }
}

/** Status determination, key information, required competency, custom documents and custom fields. */
function documentsOf(making: RecordMaking, engagement: Engagement) {
  const { draw } = making
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
    customDocuments: draw.chance(customDocumentsShare) ? customDocuments(making, placement) : [],
    metaFields: metaFieldDefinitions.map(({ display, ...field }) => ({
      ...field,
      value: field.type === 'date' ? iso(startMs).slice(0, 10) : `Gang ${draw.between(1, 9)}`,
      display: [...display],
    })),
  }
}

/** Documents that are not handed in yet have no attachment. */
function customDocuments(
  { draw, master }: RecordMaking,
  { agency, assignment: { id }, createdMs }: Placement,
) {
  const uploader = master.staff.drawRef(draw, agency.id, agencyRoles)
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
      uploadedAt: iso(createdMs),
      expiry: iso(createdMs + draw.between(100, 700) * dayMs),
    }
  })
}

interface Event {
  readonly atMs: number
  readonly activityType: string
  readonly user: Ref
  readonly reason?: string
}

/** Nothing happens at or after the end of the data. */
function assignmentHistory(making: RecordMaking, engagement: Engagement) {
  const { draw, master } = making
  const { placement, confirmedMs, closedMs, reinstatedMs, status } = engagement
  const company = master.staff.drawRef(draw, placement.company.id, approverRoles) ?? placement.company
  const supplier = master.staff.drawRef(draw, placement.agency.id, agencyRoles) ?? placement.agency
  const events: Event[] = []
  const add = (atMs: number | undefined, activityType: string, by: Pick<Event, 'user' | 'reason'>) => {
    if (atMs !== undefined) events.push({ atMs, activityType, ...by })
  }
  const inError = { user: company, reason: 'Ended in error' }
  add(placement.createdMs, 'created', { user: company })
  add(confirmedMs, 'confirmed', { user: supplier })
  add(reinstatedMs && reinstatedMs - dayMs / 4, 'ended', inError)
  add(reinstatedMs, 'reinstated', inError)
  add(closedMs, status, { user: company, reason: engagement.reason ?? 'End date reached' })
  events.push(...amendment(making, engagement, company))
  events.sort((left, right) => left.atMs - right.atMs)
  return {
    outcome: { ...outcome(engagement, events), assignedBy: draw.chance(0.7) ? company : undefined },
    activities: events.map(event => logged(event, engagement)),
    lastMs: (events.at(-1) as Event).atMs,
  }
}

function amendment({ draw, seed }: RecordMaking, engagement: Engagement, user: Ref): Event[] {
  const { startMs, endMs, closedMs = endMs } = engagement
  const untilMs = Math.min(closedMs, seed.endMs)
  if (startMs >= untilMs || !draw.chance(0.25)) return []
  const atMs = draw.time(startMs, untilMs)
  return [{ atMs, activityType: draw.chance(0.5) ? 'datesUpdated' : 'ratesUpdated', user }]
}

type AssignmentEnd = Partial<Record<'ended' | 'cancellation' | 'reinstatement', ReturnType<typeof ending>>>

function outcome({ status, endMs }: Engagement, events: readonly Event[]): AssignmentEnd {
  const reinstated = events.find(event => event.activityType === 'reinstated')
  const reinstatement = reinstated ? { reinstatement: endingOf(reinstated, iso(reinstated.atMs)) } : {}
  const close = events.findLast(event => event.activityType === status)
  if (status === 'ended' && close) return { ended: endingOf(close, iso(endMs)), ...reinstatement }
  if (status === 'cancelled' && close) return { cancellation: endingOf(close, iso(close.atMs)) }
  return reinstatement
}

const endingOf = ({ reason = '', user }: Event, date: string) => ending(reason, date, user)

/** The same object for assignments that were ended, cancelled or reinstated. */
export function ending(reason: string, date: string, user: unknown) {
  return { reason, date, comments: `${reason}, told to the supplier`, user }
}

function logged({ atMs, activityType, user, reason }: Event, { placement }: Engagement) {
  return {
    created: iso(atMs),
    activityType,
    user: user.name,
    userId: user.id,
    entity: { id: placement.assignment.id, name: placement.assignment.reference },
    reason: reason ?? '',
    comments: '',
    message: `${activityType} by ${user.name}`,
  }
}

const dayKeys = ['m', 't', 'w', 'th', 'f', 's', 'su'] as const
const breakMinutes = 30

export interface PlannedShift {
  readonly start: number | null
  readonly end: number | null
  readonly active: boolean
  readonly break: number | null
  readonly night: boolean
}

const dayOff: PlannedShift = Object.freeze({
  start: null,
  end: null,
  active: false,
  break: null,
  night: false,
})

/** Start and end are hours of the day; a night shift ends on the next day. Breaks are minutes. */
function shiftPattern({ days, startHour, dayHours, night }: Placement): PlacementTerms['shiftPattern'] {
  const end = (startHour + dayHours + breakMinutes / 60) % 24
  const shift: PlannedShift = { start: startHour, end, active: true, break: breakMinutes, night }
  return Object.fromEntries(dayKeys.map((key, day) => [key, days.includes(day) ? shift : dayOff]))
}

export interface PlacementTerms {
  readonly startDate: string
  readonly endDate: string
  readonly shiftPattern: Readonly<Record<string, PlannedShift>>
  readonly rates: { readonly pay: number; readonly charge: number }
}

/** The planned value: hours of the pattern times weeks begun, at the basic rate. */
export function plannedValues({ startDate, endDate, shiftPattern, rates }: PlacementTerms) {
  const weeks = Math.ceil((Date.parse(endDate) - Date.parse(startDate)) / weekMs)
  const shifts = Object.values(shiftPattern).filter(shift => shift.active)
  const hours = shifts.reduce((sum, { start, end, break: minutes }) => {
    const length = ((end ?? 0) - (start ?? 0) + 24) % 24
    return sum + length - (minutes ?? 0) / 60
  }, 0)
  return { pay: times(hours * weeks, rates.pay), charge: times(hours * weeks, rates.charge) }
}

/** Plain factors, or enhanced ones for companies that use them. */
function upliftsOf(rates: Rates, { enabled, mode, weekly }: Company['config']['enhancedUplifts']) {
  if (enabled) return { enhancedUplifts: { enabled, mode, weekly } }
  const factor = (key: keyof Rates) => rates[key].uplift ?? 1
  return {
    rateUplifts: {
      bh: factor('bh'),
      bhNw: factor('bhNight'),
      wdOt: factor('ot'),
      sat: factor('sat'),
      sun: factor('sun'),
      wdNw: factor('wdNw'),
      weNw: factor('weNw'),
    },
  }
}
