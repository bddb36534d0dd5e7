/** Every endpoint the sandbox serves. */

import type { Endpoint } from '../declare/endpoint.ts'
import { accessRuleMappings } from './access-rule-mappings.ts'
import { assignmentRead } from './assignments.ts'
import { companyList, companyRead } from './companies.ts'
import { userAssignments, userPermissions } from './company-users.ts'
import { competencyMatrix } from './competency-matrix.ts'
import { creditNoteRead } from './credit-notes.ts'
import { expenseList, expenseRead } from './expenses.ts'
import { invoiceList } from './invoices.ts'
import { me } from './me.ts'
import { projectList, projectRead } from './projects.ts'
import { purchaseOrderRead } from './purchase-orders.ts'
import { rateRead } from './rates.ts'
import { recruitmentMetrics } from './recruitment-metrics.ts'
import { requisitionRead } from './requisitions.ts'
import { siteList, siteRead } from './sites.ts'
import { timesheetList } from './timesheets.ts'
import { tradeRead } from './trades.ts'
import { userList } from './users.ts'

export const endpoints: readonly Endpoint[] = [
  me,
  companyList,
  companyRead,
  competencyMatrix,
  userPermissions,
  userAssignments,
  accessRuleMappings,
  projectList,
  projectRead,
  siteList,
  siteRead,
  tradeRead,
  rateRead,
  userList,
  recruitmentMetrics,
  requisitionRead,
  assignmentRead,
  timesheetList,
  expenseList,
  expenseRead,
  invoiceList,
  creditNoteRead,
  purchaseOrderRead,
]
