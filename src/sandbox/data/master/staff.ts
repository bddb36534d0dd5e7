/** Staff: the users who act for a company or an agency, all there before the first event of the data. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { type Ref, refOf } from '../identity.ts'
import type { Seed } from '../seed.ts'
import type { User } from './users.ts'

export const requestorRoles = ['projectRequestor', 'projectAdmin'] as const
export const approverRoles = ['projectApprover', 'projectAdmin'] as const
export const officeRoles = ['companyAdmin', 'companyFinance'] as const
export const agencyRoles = ['ldAdmin', 'ldUser'] as const

export interface Contact {
  readonly name: string
  readonly email: string
}

interface Asked {
  readonly roles: readonly string[]
  /** Days before the first week. Requisitions of the first week's work are up to 100 days old. */
  readonly leadDays?: number
}

export class Staff {
  readonly #firstWeekMs: number
  readonly #byMembership: ReadonlyMap<string, readonly { user: User }[]>
  readonly #pools = new Map<string, readonly User[]>()

  constructor(seed: Seed, users: readonly User[]) {
    this.#firstWeekMs = seed.firstWeekMs
    const memberships = users.flatMap(user =>
      [...user.companies, ...user.agencies].map(memberOf => ({ memberOf, user })),
    )
    this.#byMembership = groupBy(memberships, ({ memberOf }) => memberOf)
  }

  members(memberOf: string, asked: Asked): readonly User[] {
    const name = `${memberOf} ${asked.leadDays} ${asked.roles.join()}`
    const pool = this.#pools.get(name) ?? this.#membersAnew(memberOf, asked)
    this.#pools.set(name, pool)
    return pool
  }

  /** Users with any of the roles. A user who joined later acts only where there is nobody else. */
  #membersAnew(memberOf: string, { roles, leadDays = 100 }: Asked): readonly User[] {
    const users = (this.#byMembership.get(memberOf) ?? []).map(({ user }) => user)
    const fitting = users.filter(user => roles.includes(user.role))
    const sinceMs = this.#firstWeekMs - leadDays * dayMs
    const early = fitting.filter(user => Date.parse(user.createdAt) < sinceMs)
    return [early, fitting, users].find(pool => pool.length > 0) ?? []
  }

  #draw(draw: Draw, memberOf: string, roles: readonly string[]): User | undefined {
    const pool = this.members(memberOf, { roles })
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
