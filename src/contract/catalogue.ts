/**
 * Lists every resource in the order in which a sync reads it: first lists, then records read by id. Among the latter, those
 * that include or name others come first: a trade includes its rates. A new resource needs its file and one line here.
 */

import { type Collection, isCollection, type Resource } from './fields/resource.ts'
import { accessRules } from './resources/access-rules.ts'
import { assignments } from './resources/assignments.ts'
import { companies } from './resources/companies.ts'
import { userAssignments, userPermissions } from './resources/company-users.ts'
import { competencyMatrix } from './resources/competency-matrix.ts'
import { creditNotes } from './resources/credit-notes.ts'
import { expenses } from './resources/expenses.ts'
import { invoices } from './resources/invoices.ts'
import { key } from './resources/key.ts'
import { metricRows } from './resources/metric-rows.ts'
import { projects } from './resources/projects.ts'
import { purchaseOrders } from './resources/purchase-orders.ts'
import { rates } from './resources/rates.ts'
import { requisitions } from './resources/requisitions.ts'
import { sites } from './resources/sites.ts'
import { timesheets } from './resources/timesheets.ts'
import { trades } from './resources/trades.ts'
import { users } from './resources/users.ts'

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
  trades,
  purchaseOrders,
  creditNotes,
  requisitions,
  assignments,
  rates,
]

/** Resources with a list. */
export const collections: readonly Collection[] = catalogue.filter(isCollection)

/** Resources without a list. */
export const byIdResources: readonly Resource[] = catalogue.filter(resource => !isCollection(resource))

/** Undefined when no resource has that name. */
export function findResource(name: string): Resource | undefined {
  return catalogue.find(resource => resource.name === name)
}
