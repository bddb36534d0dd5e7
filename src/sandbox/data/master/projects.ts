/** Projects of companies and their sites. */
import type { Rng } from '../../../lib/rng.ts'
import { DAY_MS } from '../calendar.ts'
import { between, chance, digits, pick } from '../draw.ts'
import { iso, objectId, type Ref, refOf } from '../identity.ts'
import { cities, placeNames, projectKinds, regionNames, sectorNames, siteKinds } from '../names.ts'
import { editTime, type Seed } from '../seed.ts'
import type { Company } from './companies.ts'

export type Project = ReturnType<typeof projectOf>
export type Site = ReturnType<typeof siteOf>

export function makeProjects(seed: Seed, companies: readonly Company[]): Project[] {
  const rng = seed.rng('projects')
  const regions = namedRefs(rng, seed, regionNames)
  const sectors = namedRefs(rng, seed, sectorNames)
  return Array.from({ length: seed.counts.projects }, (_, index) => {
    const company = companies[index % companies.length] as Company
    company.projectCount += 1
    const refs = { company, region: pick(rng, regions), sector: pick(rng, sectors) }
    return projectOf(seed, rng, { index, ...refs })
  })
}

function namedRefs(rng: Rng, seed: Seed, names: readonly string[]): Ref[] {
  return names.map(name => ({ id: objectId(rng, seed.firstWeekMs - 800 * DAY_MS), name }))
}

interface ProjectPlace {
  readonly index: number
  readonly company: Company
  readonly region: Ref
  readonly sector: Ref
}

function projectOf(seed: Seed, rng: Rng, { index, company, region, sector }: ProjectPlace) {
  const createdMs = seed.firstWeekMs - between(rng, -250, 400) * DAY_MS - Math.floor(rng() * DAY_MS)
  const startMs = createdMs + between(rng, 14, 60) * DAY_MS
  const endMs = startMs + between(rng, 300, 1400) * DAY_MS
  const round = Math.floor(index / (placeNames.length * 5))
  const place = placeNames[index % placeNames.length]
  const kind = projectKinds[(index * 7 + Math.floor(index / placeNames.length)) % projectKinds.length]
  const code = `${company.prefix}${String(index + 1).padStart(4, '0')}`
  return {
    id: objectId(rng, createdMs),
    name: `${place} ${kind}${round ? ` ${round + 1}` : ''}`,
    code,
    email: `${code.toLowerCase()}@projects.example.com`,
    phone: { countryCode: '+44', number: `0${digits(rng, 10)}` },
    active: endMs > seed.endMs,
    singleSite: false,
    siteCount: 0,
    company: refOf(company),
    region,
    sector,
    ...(chance(rng, 0.9) ? { dates: { start: iso(startMs), end: iso(endMs) } } : {}),
    config: { mandatoryPo: chance(rng, 0.5), timesheetsAutoApproved: false },
    createdAt: iso(createdMs),
    updatedAt: iso(editTime(seed, rng, createdMs)),
  }
}

/** Every project has a site; the rest are spread over them at random. */
export function makeSites(seed: Seed, projects: readonly Project[]): Site[] {
  const rng = seed.rng('sites')
  const sites = Array.from({ length: seed.counts.sites }, (_, index) => {
    const project = projects[index] ?? pick(rng, projects)
    project.siteCount += 1
    return siteOf(seed, rng, project)
  })
  for (const project of projects) project.singleSite = project.siteCount === 1
  return sites
}

function siteOf(seed: Seed, rng: Rng, project: Project) {
  const createdMs = Date.parse(project.createdAt) + Math.floor(rng() * 10 * DAY_MS)
  const [city, code] = pick(rng, cities)
  const part = siteKinds[(project.siteCount - 1) % siteKinds.length]
  return {
    id: objectId(rng, createdMs),
    name: `${project.name} ${part}`,
    email: project.email,
    active: project.active,
    project: refOf(project),
    company: project.company,
    phone: project.phone,
    address: {
      line1: `${between(rng, 1, 90)} Works Road`,
      city,
      postcode: `${code} ${between(rng, 1, 9)}BB`,
    },
    createdAt: iso(createdMs),
    updatedAt: iso(editTime(seed, rng, createdMs)),
  }
}
