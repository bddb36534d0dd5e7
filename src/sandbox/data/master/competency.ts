/** Competency matrix entries: what a trade must hold, per company, per sector and on some projects. */
import { refOf } from '../identity.ts'
import type { Seed } from '../seed.ts'
import type { Project } from './projects.ts'
import type { CompanyTrade } from './trades.ts'

export function makeCompetencyMatrix(
  seed: Seed,
  { trades: companyTrades, projects }: { trades: readonly CompanyTrade[]; projects: readonly Project[] },
) {
  const draw = seed.draw('competency')
  const sectors = [...new Map(projects.map(project => [project.sector.id, project.sector])).values()]
  return companyTrades.flatMap(trade => {
    const entry = { trade: refOf(trade), project: null, sector: null, companyId: trade.companyId }
    const entries: object[] = [
      { ...entry, source: 'company', requirements: requirements(trade.qualification) },
    ]
    for (const sector of sectors) {
      if (!draw.chance(0.15)) continue
      const held = requirements(trade.qualification, `${sector.name} induction`)
      entries.push({ ...entry, sector, source: 'sector', requirements: held })
    }
    const project = projects.find(candidate => candidate.company.id === trade.companyId && draw.chance(0.02))
    if (project) {
      const override = {
        project: refOf(project),
        source: 'project',
        requirements: requirements('Site first aid'),
      }
      entries.push({ ...entry, ...override, mode: draw.chance(0.7) ? 'additive' : 'replacement' })
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
