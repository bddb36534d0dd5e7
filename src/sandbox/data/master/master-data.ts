/** Generates master data: the companies, agencies, projects, sites, users and trades that all work refers to. */
import type { Draw, Seed } from '../draw.ts'
import { type Agency, type Company, makeAgencies, makeCompanies } from './companies.ts'
import { makeProjects, makeSites, type Project, type Site } from './projects.ts'
import { type CompanyTrade, makeTrades } from './trades.ts'
import { makeUsers, Staff, type User } from './users.ts'

/** The inputs for records of one kind: master data, and a random stream of their own. */
export interface RecordMaking {
  readonly seed: Seed
  readonly master: MasterData
  readonly draw: Draw
}

export class MasterData {
  readonly seed: Seed
  readonly companies: readonly Company[]
  readonly agencies: readonly Agency[]
  readonly projects: readonly Project[]
  readonly sites: readonly Site[]
  readonly users: readonly User[]
  readonly trades: readonly CompanyTrade[]
  readonly staff: Staff
  readonly #byId: ReadonlyMap<string, object>
  readonly #tradesByName: ReadonlyMap<string, CompanyTrade>

  constructor(seed: Seed) {
    this.seed = seed
    this.companies = makeCompanies(seed)
    this.agencies = makeAgencies(seed)
    this.projects = makeProjects(seed, this.companies)
    this.sites = makeSites(seed, this.projects)
    this.users = makeUsers(seed, this)
    this.trades = makeTrades(seed, this.companies)
    this.staff = new Staff(seed, this.users)
    const records = [...this.companies, ...this.projects, ...this.sites]
    this.#byId = new Map(records.map(record => [record.id, record]))
    this.#tradesByName = new Map(this.trades.map(trade => [`${trade.company.id} ${trade.name}`, trade]))
  }

  making(stream: string): RecordMaking {
    return { seed: this.seed, master: this, draw: this.seed.draw(stream) }
  }

  company(id: string): Company {
    return this.#byId.get(id) as Company
  }

  project(id: string): Project {
    return this.#byId.get(id) as Project
  }

  site(id: string): Site {
    return this.#byId.get(id) as Site
  }

  trade(companyId: string, name: string): CompanyTrade {
    return this.#tradesByName.get(`${companyId} ${name}`) as CompanyTrade
  }
}
