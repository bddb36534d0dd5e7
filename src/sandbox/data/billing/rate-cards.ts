/** Rate cards: pay and charge of each trade of a company, in general, per project and per agency. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { partId, type Ref, refOf } from '../identity.ts'
import type { Agency } from '../master/companies.ts'
import type { MasterData } from '../master/master-data.ts'
import type { Project } from '../master/projects.ts'
import type { CompanyTrade } from '../master/trades.ts'
import { trades as kinds, type Trade } from '../names.ts'
import { editedSince, type Seed } from '../seed.ts'
import { employerShare, even } from '../work/pay.ts'
import { type PieceWork, pieceRateId, pieceTerms, pieceValues } from '../work/piece-work.ts'
import type { Placement } from '../work/placements.ts'

export type RateRecord = ReturnType<RateCardWriter['card']>

/** A rate is generic, or for a project, an agency, or both; `area` gives a generic one region and sector. */
interface Holder {
  readonly project?: Project
  readonly agency?: Agency
  readonly area?: Project
}

const projectRate = 0.12
const agencyRate = 0.2
const dayHours = 8
const baseMargin = 0.12
const rateTypes = ['cis', 'paye', 'psc'] as const

export function makeRates(seed: Seed, master: MasterData, worked: readonly Placement[]): RateRecord[] {
  const writer = new RateCardWriter(seed, master)
  return [...master.trades.flatMap(trade => writer.general(trade)), ...writer.particular(worked)]
}

class RateCardWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #master: MasterData
  /** Added to the margin of an agency's rates, as a share of pay. */
  readonly #adjustments = new Map<string, number>()

  constructor(seed: Seed, master: MasterData) {
    this.#seed = seed
    this.#draw = seed.draw('rate cards')
    this.#master = master
  }

  /** A generic rate, and for some trades another for a region and sector. */
  general(trade: CompanyTrade): RateRecord[] {
    const own = this.#master.projects.filter(project => project.company.id === trade.company.id)
    const elsewhere = own.length > 0 && this.#draw.chance(0.25) ? [{ area: this.#draw.pick(own) }] : []
    return [{}, ...elsewhere].map(holder => this.card(trade, holder))
  }

  /** Rates for projects and agencies that use the trade. */
  particular(placements: readonly Placement[]): RateRecord[] {
    const known = new Set<string>()
    const once = (name: string, share: number) => {
      if (known.has(name)) return false
      known.add(name)
      return this.#draw.chance(share)
    }
    return placements.flatMap(({ company, trade: kind, agency, project: { id } }) => {
      const trade = this.#master.trade(company.id, kind.name)
      const project = this.#master.project(id)
      const holders: Holder[] = []
      if (once(`${trade.id} ${id}`, projectRate)) holders.push({ project })
      if (once(`${trade.id} ${agency.id}`, agencyRate)) holders.push({ agency })
      if (once(`${trade.id} ${id} ${agency.id}`, projectRate / 2)) holders.push({ project, agency })
      return holders.map(holder => this.card(trade, holder))
    })
  }

  card(trade: CompanyTrade, holder: Holder) {
    const draw = this.#draw
    const seed = this.#seed
    const kind = kinds.find(candidate => candidate.name === trade.name) as Trade
    const createdMs = seed.firstWeekMs - draw.between(10, 450) * dayMs
    const id = draw.id(createdMs)
    const place = holder.area ?? holder.project
    const adjustment = holder.agency ? this.#adjustment(trade, holder.agency) : 0
    const payPence = even(kind.payPence * (holder.project ? 1.05 : holder.area ? 1.03 : 1))
    const terms = { payPence, marginShare: baseMargin + adjustment }
    // Timesheets name the piece rates of the generic rate.
    const isGeneric = !place && !holder.agency
    const pieceId =
      isGeneric && kind.pieceWork ? pieceRateId(trade.company.id, kind.pieceWork) : partId(id, 0)
    return {
      id,
      trade: refOf(trade),
      company: trade.company,
      ...(place ? { region: place.region, sector: place.sector } : {}),
      project: holder.project ? refOf(holder.project) : null,
      agency: holder.agency ? refOf(holder.agency) : null,
      rates: rateSets(terms, { hours: 1, comparable: draw.chance(0.5) }),
      dayRates: rateSets(terms, { hours: dayHours, comparable: false }),
      pieceRates: kind.pieceWork ? [pieceRate(kind.pieceWork, { id: pieceId, adjustment })] : [],
      ...editedSince(seed, draw, createdMs),
    }
  }

  /** The agency's default, or its own value for one trade. */
  #adjustment(trade: Ref, agency: Agency): number {
    const draw = () => this.#draw.between(-2, 4) / 100
    const general = this.#adjustments.get(agency.id) ?? draw()
    this.#adjustments.set(agency.id, general)
    const name = `${agency.id} ${trade.id}`
    const own = this.#adjustments.get(name) ?? (this.#draw.chance(0.3) ? draw() : general)
    this.#adjustments.set(name, own)
    return own
  }
}

interface Terms {
  readonly payPence: number
  readonly marginShare: number
}

/** charge = pay + emp + margin. Daily sets have no psc: those contractors are hired by the hour. */
function rateSets(terms: Terms, { hours, comparable }: { hours: number; comparable: boolean }) {
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
