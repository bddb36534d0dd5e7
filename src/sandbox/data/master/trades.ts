/** Trades of a company: each stands for a master trade, carries tags and has a rate card. */
import { dayMs } from '../../../lib/dates.ts'
import { masterTrades } from '../../writes/lists.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, refOf } from '../identity.ts'
import { trades } from '../names.ts'
import { editTime, type Seed } from '../seed.ts'
import type { Company } from './companies.ts'

export interface CompanyTrade extends Ref {
  readonly companyId: string
  readonly qualification: string
}

export interface Tag extends Ref {
  readonly description: string
}

export function makeTrades(seed: Seed, companies: readonly Company[]): CompanyTrade[] {
  const draw = seed.draw('trades')
  return companies.flatMap(company =>
    trades.map(trade => ({
      id: draw.id(createdAt(seed)),
      name: trade.name,
      companyId: company.id,
      qualification: trade.qualification,
    })),
  )
}

export type TradeRecord = ReturnType<typeof makeTradeRecords>[number]

const tagKinds = [
  ['Safety critical', 'Needs a medical within two years'],
  ['Supervisor', 'Leads a gang'],
  ['Night work', 'Agreed to nights'],
] as const

/** Rates and competency entries are kept beside the trades, and put in when asked for. */
export function makeTradeRecords(
  seed: Seed,
  companies: readonly Company[],
  companyTrades: readonly CompanyTrade[],
) {
  const draw = seed.draw('trade records')
  const masters = new Map(masterTrades.map(master => [master.name, master]))
  const tags = new Map(companies.map(company => [company.id, companyTags(seed, draw)]))
  const names = new Map(companies.map(company => [company.id, refOf(company)]))
  return companyTrades.map(({ id, name, companyId, qualification }) => ({
    id,
    name,
    description: `${name}, with ${qualification}`,
    active: draw.chance(0.97),
    company: names.get(companyId) as Ref,
    masterTrade: masters.get(name) as Ref,
    tags: (tags.get(companyId) ?? []).filter(() => draw.chance(0.4)),
    createdAt: iso(createdAt(seed)),
    updatedAt: iso(editTime(seed, draw, createdAt(seed))),
  }))
}

function companyTags(seed: Seed, draw: Draw): Tag[] {
  return tagKinds.map(([name, description]) => ({ id: draw.id(createdAt(seed)), name, description }))
}

function createdAt(seed: Seed): number {
  return seed.firstWeekMs - 500 * dayMs
}
