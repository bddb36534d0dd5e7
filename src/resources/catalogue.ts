/** Every resource: first those a sync reads, in the order in which it starts them, then those read by id only. */
import { accessRules } from './access-rules.ts'
import { assignments } from './assignments.ts'
import { companies } from './companies.ts'
import { userAssignments, userPermissions } from './company-users.ts'
import { competencyMatrix } from './competency-matrix.ts'
import { creditNotes } from './credit-notes.ts'
import { expenses } from './expenses.ts'
import { invoices } from './invoices.ts'
import { key } from './key.ts'
import { metricRows } from './metric-rows.ts'
import { projects } from './projects.ts'
import { purchaseOrders } from './purchase-orders.ts'
import { rates } from './rates.ts'
import { requisitions } from './requisitions.ts'
import { type Collection, isCollection, type Resource } from './resource.ts'
import { sites } from './sites.ts'
import { timesheets } from './timesheets.ts'
import { trades } from './trades.ts'
import { users } from './users.ts'

export const catalogue: readonly Resource[] = [
  key,
  companies,
  projects,
  sites,
  users,
  timesheets,
  expenses,
  invoices,
  accessRules,
  userAssignments,
  userPermissions,
  competencyMatrix,
  metricRows,
  requisitions,
  assignments,
  trades,
  rates,
  creditNotes,
  purchaseOrders,
]

/** What a sync reads, in its order. */
export const collections: readonly Collection[] = catalogue.filter(isCollection)

/** What can be read one by one only. */
export const hydrated: readonly Resource[] = catalogue.filter(resource => !isCollection(resource))

/** The resource of that name; undefined when there is none. */
export function findResource(name: string): Resource | undefined {
  return catalogue.find(resource => resource.name === name)
}
