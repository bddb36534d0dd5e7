/** Users of companies, projects and agencies, and the project users' rows of their company. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { reference } from '../identity.ts'
import { firstNames, lastNames } from '../names.ts'
import { editedSince, type Seed } from '../seed.ts'
import { projectPermissions, roleLabels } from './access-rules.ts'
import type { Agency, Company } from './companies.ts'
import type { Project } from './projects.ts'

export type User = ReturnType<typeof userOf>

const jobTitles: Readonly<Record<string, readonly string[]>> = {
  companyAdmin: ['Head of Labour', 'Operations Director'],
  companyFinance: ['Finance Manager', 'Accounts Assistant'],
  companyBot: ['Integration'],
  projectAdmin: ['Project Manager', 'Contracts Manager'],
  projectFinance: ['Quantity Surveyor'],
  projectApprover: ['Site Manager', 'Works Manager'],
  projectRequestor: ['Section Engineer', 'Site Supervisor'],
  ldAdmin: ['Branch Manager'],
  ldUser: ['Recruitment Consultant', 'Payroll Coordinator'],
}

const projectRoles = ['projectAdmin', 'projectFinance', 'projectApprover', 'projectRequestor'] as const

interface Membership {
  readonly role: string
  readonly domain: string
  readonly companies?: readonly string[]
  readonly projects?: readonly string[]
  readonly agencies?: readonly string[]
}

interface Places {
  readonly companies: readonly Company[]
  readonly agencies: readonly Agency[]
  readonly projects: readonly Project[]
}

export function makeUsers(seed: Seed, { companies, agencies, projects }: Places): User[] {
  const draw = seed.draw('users')
  const projectsDraw = seed.draw('memberships')
  const hirers = companies.flatMap(company => {
    const own = projects.filter(project => project.company.id === company.id)
    return companyMemberships(projectsDraw, company, own)
  })
  const suppliers = agencies.flatMap((agency, index) =>
    ['ldAdmin', 'ldUser', 'ldUser'].map(role => ({
      ...{ role, domain: `agency${index + 1}.example.com`, agencies: [agency.id] },
    })),
  )
  return [...hirers, ...suppliers].map((membership, index) =>
    userOf(seed, draw, { ...membership, number: index + 1 }),
  )
}

function companyMemberships(draw: Draw, company: Company, own: readonly Project[]): Membership[] {
  const domain = company.email.split('@')[1] as string
  const companies = [company.id]
  const office = ['companyAdmin', 'companyAdmin', 'companyFinance', 'companyBot'].map(role => ({
    ...{ role, domain, companies },
  }))
  const onSite = projectRoles.flatMap(role =>
    Array.from({ length: Math.ceil(own.length / 2) + 1 }, () => ({
      ...{ role, domain, companies, projects: someProjects(draw, own) },
    })),
  )
  return [...office, ...onSite]
}

/** A few users get no project, so that such users exist. */
function someProjects(draw: Draw, own: readonly Project[]): string[] {
  if (own.length === 0 || draw.chance(0.05)) return []
  const chosen = Array.from({ length: draw.between(1, 4) }, () => draw.pick(own).id)
  return [...new Set(chosen)]
}

function userOf(seed: Seed, draw: Draw, user: Membership & { readonly number: number }) {
  const { role, domain, number, companies = [], projects = [], agencies = [] } = user
  const createdMs = seed.firstWeekMs - draw.between(-300, 600) * dayMs - Math.floor(draw.fraction() * dayMs)
  const firstName = draw.pick(firstNames)
  const lastName = draw.pick(lastNames)
  return {
    id: draw.id(createdMs),
    reference: reference('USR', number),
    name: `${firstName} ${lastName}`,
    firstName,
    lastName,
    email: `${firstName}.${lastName}.${number}@${domain}`.toLowerCase(),
    jobTitle: draw.pick(jobTitles[role] as readonly string[]),
    ...(draw.chance(0.8) ? { phone: `7${draw.digits(9)}`, countryCode: '+44' } : {}),
    role,
    active: draw.chance(0.92),
    verified: draw.chance(0.95),
    companies: [...companies],
    projects: [...projects],
    agencies: [...agencies],
    ...editedSince(seed, draw, createdMs),
  }
}

export function makeCompanyUsers(users: readonly User[], projects: readonly Project[]) {
  const names = new Map(projects.map(project => [project.id, project.name]))
  return users
    .filter(user => user.role.startsWith('project'))
    .map(user => ({
      id: user.id,
      name: user.name,
      email: user.email,
      jobTitle: user.jobTitle,
      role: roleLabels[user.role],
      status: user.active ? 'Active' : 'Inactive',
      projects: user.projects.map(id => ({
        id,
        name: names.get(id) ?? '',
        permissions: projectPermissions(user.role),
      })),
      companyId: user.companies[0],
    }))
}
