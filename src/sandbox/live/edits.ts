/** Small edits of lasting records: projects, sites, users and companies. */
import { chance, digits, pick } from '../data/draw.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'

const edited = ['projects', 'sites', 'users', 'companies'] as const

export function editRecord(context: ChangeContext): boolean {
  const collection = pick(context.rng, edited)
  const record = context.find(collection, 'any', () => true)
  if (!record) return false
  if (collection === 'users') return editUser(context, record)
  const phone = { countryCode: '+44', number: `0${digits(context.rng, 10)}` }
  context.update(collection, { ...record, phone })
  return true
}

/** A user's row in the lists of the company says the same as the user. */
function editUser(context: ChangeContext, user: StoredRecord): boolean {
  const jobTitle = pick(context.rng, [
    'Senior Site Manager',
    'Works Manager',
    'Planner',
    'Commercial Manager',
  ])
  const active = chance(context.rng, 0.9) ? user.active : user.active === false
  context.update('users', { ...user, jobTitle, active })
  for (const company of (user.companies ?? []) as readonly string[]) {
    const row = context.world.get('companyUsers', `${company}/${user.id}`)
    if (row)
      context.world.upsert('companyUsers', { ...row, jobTitle, status: active ? 'Active' : 'Inactive' })
  }
  return true
}

/** When nothing else applies, as with sparse records passed in: any record is saved again as it is. */
export function touchRecord(context: ChangeContext): boolean {
  for (const collection of ['timesheets', 'expenses', 'invoices', ...edited] as const) {
    const record = context.find(collection, 'any', () => true)
    if (!record) continue
    context.update(collection, record)
    return true
  }
  return false
}
