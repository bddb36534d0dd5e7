/** Lists every endpoint that the sandbox serves: a new one needs its declaration and a line here. */
import type { Endpoint } from '../declare/endpoint.ts'
import { accessRuleMappings } from './access-rule-mappings.ts'
import { creditNoteRead, invoiceList, purchaseOrderRead } from './bills.ts'
import {
  companyList,
  companyRead,
  competencyMatrixRead,
  userAssignmentList,
  userPermissionList,
} from './companies.ts'
import { fileUpload } from './file-uploads.ts'
import { me } from './me.ts'
import { projectList, projectRead, siteList, siteRead } from './projects.ts'
import { recruitmentMetrics, requisitionRead } from './requisitions.ts'
import { rateRead, tradeRead } from './trades.ts'
import { userList } from './users.ts'
import { assignmentRead, expenseList, expenseRead, timesheetList } from './work.ts'
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
