/** Generates projects of companies, and the sites of projects. */
import { dayMs } from '../../../lib/dates.ts'
import { type Draw, editedSince, type Seed } from '../draw.ts'
import { iso, type Ref, refOf } from '../identity.ts'
import { cities, placeNames, projectKinds, regionNames, sectorNames, siteKinds } from '../names.ts'
import type { Company } from './companies.ts'

export type Project = ReturnType<typeof projectOf>
export type Site = ReturnType<typeof siteOf>

export function makeProjects(seed: Seed, companies: readonly Company[]): Project[] {
  const draw = seed.draw('projects')
  const named = (names: readonly string[]) =>
    names.map(name => ({ id: draw.id(seed.firstWeekMs - 800 * dayMs), name }))
  const regions = named(regionNames)
  const sectors = named(sectorNames)
  return draw.times(seed.counts.projects, index => {
    const company = companies[index % companies.length] as Company
    company.projectCount += 1
    const area = { region: draw.pick(regions), sector: draw.pick(sectors) }
    return projectOf(seed, draw, { index, company, ...area })
  })
}

interface ProjectSetting {
  readonly index: number
  readonly company: Company
  readonly region: Ref
  readonly sector: Ref
}

function projectOf(seed: Seed, draw: Draw, { index, company, region, sector }: ProjectSetting) {
  const createdMs = seed.firstWeekMs - draw.between(-250, 400) * dayMs - Math.floor(draw.fraction() * dayMs)
  const startMs = createdMs + draw.between(14, 60) * dayMs
  const endMs = startMs + draw.between(300, 1400) * dayMs
  const round = Math.floor(index / (placeNames.length * 5))
  const place = placeNames[index % placeNames.length]
  const kind = projectKinds[(index * 7 + Math.floor(index / placeNames.length)) % projectKinds.length]
  const code = `${company.prefix}${String(index + 1).padStart(4, '0')}`
  return {
    id: draw.id(createdMs),
    name: `${place} ${kind}${round ? ` ${round + 1}` : ''}`,
    code,
    email: `${code.toLowerCase()}@projects.example.com`,
    phone: { countryCode: '+44', number: `0${draw.digits(10)}` },
    active: endMs > seed.endMs,
    singleSite: false,
    siteCount: 0,
    company: refOf(company),
    region,
    sector,
    ...(draw.chance(0.9) ? { dates: { start: iso(startMs), end: iso(endMs) } } : {}),
    config: { mandatoryPo: draw.chance(0.5), timesheetsAutoApproved: false },
    ...editedSince(seed, draw, createdMs),
  }
}

/** Every project has a site; the rest are spread over them at random. */
export function makeSites(seed: Seed, projects: readonly Project[]): Site[] {
  const draw = seed.draw('sites')
  const sites = draw.times(seed.counts.sites, index => {
    const project = projects[index] ?? draw.pick(projects)
    project.siteCount += 1
    return siteOf(seed, draw, project)
  })
  for (const project of projects) project.singleSite = project.siteCount === 1
  return sites
}

function siteOf(seed: Seed, draw: Draw, project: Project) {
  const createdMs = Date.parse(project.createdAt) + Math.floor(draw.fraction() * 10 * dayMs)
  const [city, code] = draw.pick(cities)
  const part = siteKinds[(project.siteCount - 1) % siteKinds.length]
  return {
    id: draw.id(createdMs),
    name: `${project.name} ${part}`,
    email: project.email,
    active: project.active,
    project: refOf(project),
    company: project.company,
    phone: project.phone,
    address: {
      line1: `${draw.between(1, 90)} Works Road`,
      city,
      postcode: `${code} ${draw.between(1, 9)}BB`,
    },
    ...editedSince(seed, draw, createdMs),
  }
}
