/** Every endpoint that the sandbox serves: a new one costs its file and a line here. */
import type { Endpoint } from '../declare/endpoint.ts'
import { accessRuleMappings } from './access-rule-mappings.ts'
import { assignmentRead } from './assignments.ts'
import { companyList, companyRead } from './companies.ts'
import { userAssignmentList, userPermissionList } from './company-users.ts'
import { competencyMatrixRead } from './competency-matrix.ts'
import { creditNoteRead } from './credit-notes.ts'
import { expenseList, expenseRead } from './expenses.ts'
import { fileUpload } from './file-uploads.ts'
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
import { workerCreate, workerUpdate } from './workers.ts'

export const endpoints: readonly Endpoint[] = [
  me,
  companyList,
  companyRead,
  competencyMatrixRead,
  userPermissionList,
  userAssignmentList,
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
  workerCreate,
  workerUpdate,
  fileUpload,
]
