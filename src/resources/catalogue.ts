/** Every resource, in the order in which a sync starts them: what others refer to comes first. */
import { accessRules } from './access-rules.ts'
import { companies } from './companies.ts'
import { userAssignments, userPermissions } from './company-users.ts'
import { competencyMatrix } from './competency-matrix.ts'
import { expenses } from './expenses.ts'
import { invoices } from './invoices.ts'
import { key } from './key.ts'
import { metricRows } from './metric-rows.ts'
import { projects } from './projects.ts'
import type { Resource } from './resource.ts'
import { sites } from './sites.ts'
import { timesheets } from './timesheets.ts'
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
]

/** The resource of that name; undefined when there is none. */
export function findResource(name: string): Resource | undefined {
  return catalogue.find(resource => resource.name === name)
}
