/**
 * Generates users of companies, projects and agencies, project users' rows in their company, who acts for whom, and the
 * access rules: the roles that may do each action, as global mappings and as a project user's permissions.
 */
import { dayMs } from '../../../lib/dates.ts'
import { type Draw, editedSince, type Seed } from '../draw.ts'
import { iso, type Ref, refOf } from '../identity.ts'
import { firstNames, lastNames } from '../names.ts'
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

interface UserParties {
  readonly companies: readonly Company[]
  readonly agencies: readonly Agency[]
  readonly projects: readonly Project[]
}

export function makeUsers(seed: Seed, { companies, agencies, projects }: UserParties): User[] {
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
    reference: draw.reference('USR'),
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

export const requestorRoles = ['projectRequestor', 'projectAdmin'] as const
export const approverRoles = ['projectApprover', 'projectAdmin'] as const
export const officeRoles = ['companyAdmin', 'companyFinance'] as const
export const agencyRoles = ['ldAdmin', 'ldUser'] as const

export interface Contact {
  readonly name: string
  readonly email: string
}

/** Days before the first week: requisitions of the first week's work are up to 100 days old. */
const defaultLeadDays = 100

/** The users who act for a company or an agency; all exist before the first event of the data. */
export class Staff {
  readonly #firstWeekMs: number
  readonly #users: readonly User[]
  readonly #pools = new Map<string, readonly User[]>()

  constructor(seed: Seed, users: readonly User[]) {
    this.#firstWeekMs = seed.firstWeekMs
    this.#users = users
  }

  /** Users with any of the roles. A user who joined later acts only if there is no other. */
  members(memberOf: string, roles: readonly string[], leadDays = defaultLeadDays): readonly User[] {
    const name = `${memberOf} ${leadDays} ${roles.join()}`
    const known = this.#pools.get(name)
    if (known) return known
    const users = this.#users.filter(user => [...user.companies, ...user.agencies].includes(memberOf))
    const fitting = users.filter(user => roles.includes(user.role))
    const since = iso(this.#firstWeekMs - leadDays * dayMs)
    const early = fitting.filter(user => user.createdAt < since)
    const pool = [early, fitting, users].find(one => one.length > 0) ?? []
    this.#pools.set(name, pool)
    return pool
  }

  #draw(draw: Draw, memberOf: string, roles: readonly string[]): User | undefined {
    const pool = this.members(memberOf, roles)
    return pool.length > 0 ? draw.pick(pool) : undefined
  }

  drawRef(draw: Draw, memberOf: string, roles: readonly string[]): Ref | undefined {
    const user = this.#draw(draw, memberOf, roles)
    return user && refOf(user)
  }

  /** Requisitions name people by name and email. */
  drawContact(draw: Draw, memberOf: string, roles: readonly string[]): Contact | undefined {
    const user = this.#draw(draw, memberOf, roles)
    return user && { name: user.name, email: user.email }
  }
}

const office = ['companyAdmin', 'companyFinance', 'projectAdmin', 'projectApprover']
const approvers = ['companyAdmin', 'projectAdmin', 'projectApprover']
const admins = ['companyAdmin', 'projectAdmin']

/** Action -> the roles that may do it. */
const rules: Readonly<Record<string, readonly string[]>> = {
  'requisition.create': [...admins, 'projectRequestor'],
  'requisition.approve': approvers,
  'requisition.cancel': admins,
  'assignment.end': [...admins, 'ldAdmin'],
  'assignment.amend': admins,
  'timesheet.view': [...office, 'projectFinance', 'projectRequestor', 'ldAdmin', 'ldUser'],
  'timesheet.amend': [...admins, 'projectRequestor', 'ldUser'],
  'timesheet.approve': approvers,
  'expense.approve': approvers,
  'invoice.view': [...office, 'projectFinance', 'ldAdmin'],
  'invoice.confirm': ['companyAdmin', 'companyFinance', 'projectFinance'],
  'user.manage': [...admins, 'ldAdmin'],
}

/** Action -> the key of a company's configuration that may restrict it. */
const configKeys: Readonly<Record<string, string>> = {
  'requisition.approve': 'multiStageApproval.req',
  'assignment.amend': 'supplierActions.amendShift',
  'timesheet.amend': 'timesheetAdjustment.company',
  'invoice.confirm': 'supplierActions.markInvoicePaid',
}

const roleLabels: Readonly<Record<string, string>> = {
  projectAdmin: 'Project Admin',
  projectFinance: 'Project Finance',
  projectApprover: 'Project Approver',
  projectRequestor: 'Project Requestor',
}

export function makeAccessRuleMappings(seed: Seed) {
  const draw = seed.draw('access rules')
  return Object.entries(rules).flatMap(([can, roles]) =>
    roles.map(role => ({
      id: draw.id(seed.firstWeekMs),
      a: role,
      can,
      ...(configKeys[can] === undefined ? {} : { configKey: configKeys[can] }),
      type: 'RBAC',
    })),
  )
}

/** No generated user has overrides. */
const projectPermissions = (role: string) =>
  Object.entries(rules).map(([id, roles]) => ({ id, ...described(id), permitted: roles.includes(role) }))

function described(action: string): { name: string; category: string } {
  const [noun = '', verb = ''] = action.split('.')
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  return { name: `${capital(verb)} ${noun}s`, category: noun === 'invoice' ? 'Finance' : `${capital(noun)}s` }
}
