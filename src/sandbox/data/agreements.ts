/**
 * Generates agreements that precede the work. Rate cards: pay and charge of each trade of a company, in general, per project
 * and per agency. Purchase orders for the work of one agency on one project, in some or all trades.
 */
import { dayMs, startOfUtcDay, weekMs } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import { editedSince } from './draw.ts'
import { iso, partId, type Ref, refOf } from './identity.ts'
import type { Agency } from './master/companies.ts'
import type { MasterData, RecordMaking } from './master/master-data.ts'
import type { Project } from './master/projects.ts'
import type { CompanyTrade } from './master/trades.ts'
import { officeRoles } from './master/users.ts'
import { trades as kinds, type Trade } from './names.ts'
import { employerShare, even, type PieceWork, pieceRateId, pieceTerms, pieceValues } from './work/pay.ts'
import type { Placement } from './work/placements.ts'

export type RateRecord = ReturnType<typeof rateFor>

/** A rate is generic, or for a project, an agency, or both; `area` gives a generic one region and sector. */
interface RateHolder {
  readonly project?: Project
  readonly agency?: Agency
  readonly area?: Project
}

const projectRate = 0.12
const agencyRate = 0.2
const dayHours = 8
const baseMargin = 0.12
const rateTypes = ['cis', 'paye', 'psc'] as const

export function makeRates(master: MasterData, worked: readonly Placement[]): RateRecord[] {
  const making = { ...master.making('rate cards'), adjustments: new Map<string, number>() }
  return [...master.trades.flatMap(trade => generalRates(making, trade)), ...particularRates(making, worked)]
}

interface RateMaking extends RecordMaking {
  /** Added to the margin of an agency's rates, as a share of pay. */
  readonly adjustments: Map<string, number>
}

/** A generic rate, and for some trades another for a region and sector. */
function generalRates(making: RateMaking, trade: CompanyTrade): RateRecord[] {
  const { draw, master } = making
  const own = master.projects.filter(project => project.company.id === trade.company.id)
  const elsewhere = own.length > 0 && draw.chance(0.25) ? [{ area: draw.pick(own) }] : []
  return [{}, ...elsewhere].map(holder => rateFor(making, trade, holder))
}

/** Rates for projects and agencies that use the trade. */
function particularRates(making: RateMaking, placements: readonly Placement[]): RateRecord[] {
  const { master, draw } = making
  const known = new Set<string>()
  const once = (name: string, share: number) => {
    if (known.has(name)) return false
    known.add(name)
    return draw.chance(share)
  }
  return placements.flatMap(({ company, trade: kind, agency, project: { id } }) => {
    const trade = master.trade(company.id, kind.name)
    const project = master.project(id)
    const holders: RateHolder[] = []
    if (once(`${trade.id} ${id}`, projectRate)) holders.push({ project })
    if (once(`${trade.id} ${agency.id}`, agencyRate)) holders.push({ agency })
    if (once(`${trade.id} ${id} ${agency.id}`, projectRate / 2)) holders.push({ project, agency })
    return holders.map(holder => rateFor(making, trade, holder))
  })
}

function rateFor(making: RateMaking, trade: CompanyTrade, { project, agency, area }: RateHolder) {
  const { draw, seed } = making
  const kind = kinds.find(candidate => candidate.name === trade.name) as Trade
  const { pieceWork } = kind
  const createdMs = seed.firstWeekMs - draw.between(10, 450) * dayMs
  const id = draw.id(createdMs)
  const place = area ?? project
  const adjustment = agency ? adjustmentFor(making, trade, agency) : 0
  const payPence = even(kind.payPence * (project ? 1.05 : area ? 1.03 : 1))
  const terms = { payPence, marginShare: baseMargin + adjustment }
  // Timesheets name the piece rates of the generic rate.
  const pieceId = pieceWork && !place && !agency ? pieceRateId(trade.company.id, pieceWork) : partId(id, 0)
  return {
    id,
    trade: refOf(trade),
    company: trade.company,
    ...(place && { region: place.region, sector: place.sector }),
    project: project ? refOf(project) : null,
    agency: agency ? refOf(agency) : null,
    rates: rateSets(terms, { hours: 1, comparable: draw.chance(0.5) }),
    dayRates: rateSets(terms, { hours: dayHours, comparable: false }),
    pieceRates: pieceWork ? [pieceRate(pieceWork, { id: pieceId, adjustment })] : [],
    ...editedSince(seed, draw, createdMs),
  }
}

/** The agency's default, or its own value for one trade. */
function adjustmentFor({ draw, adjustments }: RateMaking, trade: Ref, agency: Agency): number {
  const drawn = () => draw.between(-2, 4) / 100
  const general = adjustments.get(agency.id) ?? drawn()
  adjustments.set(agency.id, general)
  const name = `${agency.id} ${trade.id}`
  const own = adjustments.get(name) ?? (draw.chance(0.3) ? drawn() : general)
  adjustments.set(name, own)
  return own
}

interface RateTerms {
  readonly payPence: number
  readonly marginShare: number
}

/** charge = pay + emp + margin. Daily sets have no psc: those contractors are hired by the hour. */
function rateSets(terms: RateTerms, { hours, comparable }: { hours: number; comparable: boolean }) {
  const sets = rateTypes.map(type => {
    if (hours > 1 && type === 'psc') return [type, null] as const
    const pay = terms.payPence * hours
    const emp = even(pay * (employerShare[type] as number))
    const margin = even(pay * terms.marginShare)
    const charge = (pay + emp + margin) / 100
    const set = { pay: pay / 100, emp: emp / 100, margin: margin / 100, charge }
    const compared = even(pay * 1.02) / 100
    return [type, comparable ? { ...set, comparablePayRate: compared } : set] as const
  })
  return Object.fromEntries(sets)
}

function pieceRate(pieceWork: PieceWork, { id, adjustment }: { id: string; adjustment: number }) {
  const values = pieceValues(pieceWork, 0.1 + adjustment)
  return { id, ...pieceTerms(pieceWork), values: { cis: values, paye: values, psc: null } }
}

export type PurchaseOrder = ReturnType<typeof orderFor>

const ordered = 0.3
const poundsPerWeek = 1400

/** The orders, and the order of each placement that one pays for. */
export function makePurchaseOrders(master: MasterData, placements: readonly Placement[]) {
  const making = master.making('purchase orders')
  const draw = master.seed.draw('purchase orders drawn')
  const pairs = groupBy(placements, ({ project, agency }) => `${project.id} ${agency.id}`)
  const drawn = [...pairs.values()].filter(() => draw.chance(ordered))
  const written = drawn.map(pair => ({ pair, order: orderFor(making, pair) }))
  return {
    orders: written.map(({ order }) => order),
    byPlacement: new Map(
      written.flatMap(({ pair, order }) => pair.map(placement => [placement, order] as const)),
    ),
  }
}

function orderFor(making: RecordMaking, placements: readonly Placement[]) {
  const { draw, master } = making
  const [{ company, project, site, agency }] = placements as readonly [Placement]
  const firstMs = Math.min(...placements.map(placement => placement.createdMs))
  const createdMs = firstMs - draw.between(1, 20) * dayMs
  const endMs = Math.max(...placements.map(placement => placement.weeks.at(-1) as number)) + 8 * weekMs
  const weeks = placements.reduce((sum, placement) => sum + placement.weeks.length, 0)
  const allTrades = draw.chance(0.35)
  const names = new Set(placements.map(placement => placement.trade.name))
  const known = master.trades.filter(trade => trade.company.id === company.id)
  const tags = known.flatMap(trade => trade.tags)
  return {
    id: draw.id(createdMs),
    reference: draw.reference('PO'),
    tradeOption: allTrades ? 'all' : 'specific',
    startDate: iso(startOfUtcDay(createdMs)),
    endDate: iso(endMs),
    value: weeks * poundsPerWeek + draw.between(0, 20) * 500,
    ...{ allTrades, company, site, agency: refOf(agency), projects: [project] },
    trades: allTrades ? [] : known.filter(({ name }) => names.has(name)).map(refOf),
    ...(tags.length > 0 && draw.chance(0.2) ? { tag: refOf(draw.pick(tags)) } : {}),
    ...lifeOf(making, company.id, { createdMs, endMs }),
    createdAt: iso(createdMs),
  }
}

/** Inactive after its end date or when revoked; active again when reinstated. */
function lifeOf(
  { draw, seed, master }: RecordMaking,
  companyId: string,
  { createdMs, endMs }: { readonly createdMs: number; readonly endMs: number },
) {
  const user = master.staff.drawRef(draw, companyId, officeRoles)
  if (endMs < seed.endMs) return { status: 'inactive', updatedAt: iso(endMs) }
  if (!user || !draw.chance(0.35)) {
    return { status: 'active', updatedAt: iso(draw.time(createdMs, createdMs + 30 * dayMs)) }
  }
  const revokedAt = iso(draw.time(createdMs, seed.endMs - dayMs))
  if (draw.chance(0.5)) {
    return { status: 'inactive', revoked: { user, date: revokedAt }, updatedAt: revokedAt }
  }
  const reinstatedAt = iso(draw.time(Date.parse(revokedAt), seed.endMs))
  return { status: 'active', reinstated: { user, date: reinstatedAt }, updatedAt: reinstatedAt }
}
