/** Generates trades of each company, with their master trade and tags, and the competency matrix. */
import { dayMs } from '../../../lib/dates.ts'
import { masterTrades } from '../../writes/lists.ts'
import { editedSince, type Seed } from '../draw.ts'
import { type Ref, refOf } from '../identity.ts'
import { trades as tradeKinds } from '../names.ts'
import type { Company } from './companies.ts'
import type { Project } from './projects.ts'

export type CompanyTrade = ReturnType<typeof makeTrades>[number]

const qualifications = new Map(tradeKinds.map(kind => [kind.name, kind.qualification]))

const tagKinds = [
  ['Safety critical', 'Needs a medical within two years'],
  ['Supervisor', 'Leads a gang'],
  ['Night work', 'Agreed to nights'],
] as const

/** Rates and competency entries are collections of their own; responses include them on request. */
export function makeTrades(seed: Seed, companies: readonly Company[]) {
  const ids = seed.draw('trades')
  const draw = seed.draw('trade records')
  const createdMs = seed.firstWeekMs - 500 * dayMs
  const masters = new Map(masterTrades.map(master => [master.name, master]))
  const named = companies.flatMap(company =>
    tradeKinds.map(({ name }) => ({ company, name, id: ids.id(createdMs) })),
  )
  const newTags = () => tagKinds.map(([name, description]) => ({ id: draw.id(createdMs), name, description }))
  const tags = new Map(companies.map(company => [company, newTags()]))
  return named.map(({ company, name, id }) => ({
    id,
    name,
    description: `${name}, with ${qualifications.get(name)}`,
    active: draw.chance(0.97),
    company: refOf(company),
    masterTrade: masters.get(name) as Ref,
    tags: (tags.get(company) ?? []).filter(() => draw.chance(0.4)),
    ...editedSince(seed, draw, createdMs),
  }))
}

/** The qualifications that a trade needs: per company, per sector and on some projects. */
export function makeCompetencyMatrix(
  seed: Seed,
  trades: readonly CompanyTrade[],
  projects: readonly Project[],
) {
  const draw = seed.draw('competency')
  const sectors = [...new Map(projects.map(project => [project.sector.id, project.sector])).values()]
  return trades.flatMap(trade => {
    const companyId = trade.company.id
    const qualification = qualifications.get(trade.name) ?? ''
    const entry = { trade: refOf(trade), project: null, sector: null, companyId }
    const entries: object[] = [{ ...entry, source: 'company', requirements: requirements(qualification) }]
    for (const sector of sectors) {
      if (!draw.chance(0.15)) continue
      const required = requirements(qualification, `${sector.name} induction`)
      entries.push({ ...entry, sector, source: 'sector', requirements: required })
    }
    const project = projects.find(candidate => candidate.company.id === companyId && draw.chance(0.02))
    if (project) {
      entries.push({
        ...{ ...entry, project: refOf(project), source: 'project' },
        requirements: requirements('Site first aid'),
        mode: draw.chance(0.7) ? 'additive' : 'replacement',
      })
    }
    return entries
  })
}

function requirements(...names: readonly string[]) {
  return [
    {
      rule: 'mandatory',
      items: names.map(name => ({ name })),
      groups: [{ items: [{ name: 'Right to work check' }, { name: 'Share code check' }] }],
    },
  ]
}
