/** Master data: the companies, agencies, projects, sites, users and trades that all work refers to. */
import type { Seed } from '../seed.ts'
import { type Agency, type Company, makeAgencies, makeCompanies } from './companies.ts'
import { makeProjects, makeSites, type Project, type Site } from './projects.ts'
import { Staff } from './staff.ts'
import { type CompanyTrade, makeTrades } from './trades.ts'
import { makeUsers, type User } from './users.ts'

export class MasterData {
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
