/** Who acts for a company or an agency: users who were there before anything in the data happened. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { type Ref, refOf } from '../identity.ts'
import type { Seed } from '../seed.ts'
import type { User } from './users.ts'

/** Requisitions of the first week's work are up to this old. */
const leadDays = 100

export class Staff {
  readonly #seed: Seed
  readonly #byMembership = new Map<string, User[]>()
  readonly #pools = new Map<string, readonly User[]>()

  constructor(seed: Seed, users: readonly User[]) {
    this.#seed = seed
    for (const user of users) {
      for (const id of [...user.companies, ...user.agencies]) {
        const known = this.#byMembership.get(id)
        if (known) known.push(user)
        else this.#byMembership.set(id, [user])
      }
    }
  }

  drawUser(draw: Draw, memberOf: string, roles: readonly string[]): User | undefined {
    const name = `${memberOf} ${roles.join()}`
    const pool = this.#pools.get(name) ?? this.#poolOf(memberOf, roles)
    this.#pools.set(name, pool)
    return pool.length > 0 ? draw.pick(pool) : undefined
  }

  /** Those with any of the roles; who came later acts only where there is nobody else. */
  #poolOf(memberOf: string, roles: readonly string[]): readonly User[] {
    const users = this.#byMembership.get(memberOf) ?? []
    const fitting = users.filter(user => roles.includes(user.role))
    const sinceMs = this.#seed.firstWeekMs - leadDays * dayMs
    const early = fitting.filter(user => Date.parse(user.createdAt) < sinceMs)
    return [early, fitting, users].find(pool => pool.length > 0) ?? []
  }

  drawRef(draw: Draw, memberOf: string, roles: readonly string[]): Ref | undefined {
    const user = this.drawUser(draw, memberOf, roles)
    return user && refOf(user)
  }

  /** As requisitions name people. */
  drawContact(draw: Draw, memberOf: string, roles: readonly string[]): Contact | undefined {
    const user = this.drawUser(draw, memberOf, roles)
    return user && { name: user.name, email: user.email }
  }
}

export interface Contact {
  readonly name: string
  readonly email: string
}

export const requestorRoles = ['projectRequestor', 'projectAdmin'] as const
export const approverRoles = ['projectApprover', 'projectAdmin'] as const
export const officeRoles = ['companyAdmin', 'companyFinance'] as const
export const agencyRoles = ['ldAdmin', 'ldUser'] as const
