/** Small edits of lasting records: projects, sites, users and companies. */
import type { StoredRecord } from '../records/record.ts'
import type { Collection } from '../world.ts'
import type { ChangeContext } from './change-context.ts'

const edited = ['projects', 'sites', 'users', 'companies'] as const
const jobTitles = ['Senior Site Manager', 'Works Manager', 'Planner', 'Commercial Manager']

const findAny = (context: ChangeContext, collection: Collection): StoredRecord | undefined =>
  context.find({ collection, state: 'any', test: () => true })

export function editRecord(context: ChangeContext): boolean {
  const { draw } = context
  const collection = draw.pick(edited)
  const record = findAny(context, collection)
  if (!record) return false
  if (collection === 'users') editUser(context, record)
  else {
    const phone = { countryCode: '+44', number: `0${draw.digits(10)}` }
    context.update(collection, { ...record, phone })
  }
  return true
}

/** The user's row in the company's list changes with the user. */
function editUser(context: ChangeContext, user: StoredRecord): void {
  const jobTitle = context.draw.pick(jobTitles)
  const active = context.draw.chance(0.9) ? user.active : user.active === false
  context.update('users', { ...user, jobTitle, active })
  for (const company of (user.companies ?? []) as readonly string[]) {
    const row = context.world.get('companyUsers', `${company}/${user.id}`)
    const status = active ? 'Active' : 'Inactive'
    if (row) context.world.upsert('companyUsers', { ...row, jobTitle, status })
  }
}

/** Saves any record unchanged, when nothing else applies, as with sparse records passed in. */
export function touchRecord(context: ChangeContext): boolean {
  for (const collection of ['timesheets', 'expenses', 'invoices', ...edited] as const) {
    const record = findAny(context, collection)
    if (!record) continue
    context.update(collection, record)
    return true
  }
  return false
}
