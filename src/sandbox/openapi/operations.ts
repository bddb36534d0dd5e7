/** The operations of the contract by path: their names, also as tools, and what they answer with. */
import type { EndpointPath, WritePath } from '../keys/access.ts'

export interface Operation {
  /** Undefined where the contract offers the operation as no tool. */
  readonly tool?: string
  /** The tool's name, else one of our own. */
  readonly operationId: string
  readonly summary: string
  /** Name of the schema of `data`, or of an element of it. */
  readonly answer: string
  /** What `meta` is, if there is one, and whether `data` is a list. */
  readonly kind: 'record' | 'page' | 'metrics' | 'upload'
}

const record = (tool: string, answer: string, summary: string): Operation => ({
  tool: `open_api_${tool}`,
  operationId: `open_api_${tool}`,
  summary,
  answer,
  kind: 'record',
})

const page = (tool: string, answer: string, summary: string): Operation => ({
  ...record(tool, answer, summary),
  kind: 'page',
})

export const operations: Readonly<Record<EndpointPath | WritePath, Operation>> = {
  '/me': {
    operationId: 'getKey',
    summary: 'The API key: its scopes, limits, use and reach.',
    answer: 'Key',
    kind: 'record',
  },
  '/companies': page('list_companies', 'Company', 'Companies that the key may see. Company keys only.'),
  '/companies/:id': record('get_company', 'Company', 'One company. Company keys only.'),
  '/companies/:id/competency-matrix': record(
    'get_company_competency_matrix',
    'CompetencyMatrix',
    'Qualifications that the trades of a company need, or those in effect on one of its projects.',
  ),
  '/companies/:id/user-permissions': page(
    'list_company_user_permissions',
    'CompanyUserWithPermissions',
    'Users of a company with what they may do on their projects. Company keys only.',
  ),
  '/companies/:id/user-assignments': page(
    'list_company_user_assignments',
    'CompanyUser',
    'Users of a company with their projects. Company keys only.',
  ),
  '/access-rule-mappings': page(
    'list_access_rule_mappings',
    'AccessRuleMappingOrGroup',
    'What each role may do by default, row by row or in groups. Company keys only.',
  ),
  '/projects': page('list_projects', 'Project', 'Projects. Company keys only.'),
  '/projects/:id': record('get_project', 'Project', 'One project. Company keys only.'),
  '/sites': page('list_sites', 'Site', 'Sites. Company keys only.'),
  '/sites/:id': record('get_site', 'Site', 'One site.'),
  '/trades/:id': record('get_trade', 'Trade', 'One trade.'),
  '/rates/:id': record('get_rate', 'Rate', 'One rate. Agency keys see generic ones and their own.'),
  '/users': page('list_users', 'User', 'Public profiles of users that the key and its owner may see.'),
  '/requisitions/:id': record('get_requisition', 'Requisition', 'One requisition.'),
  '/requisitions/recruitment-metrics': {
    ...page(
      'list_recruitment_metrics',
      'RecruitmentMetric',
      'Recruitment by requisition and worker, or time to fill, or workers over their hours. Company keys only.',
    ),
    kind: 'metrics',
  },
  '/assignments/:id': record('get_assignment', 'Assignment', 'One assignment.'),
  '/timesheets': page('list_timesheets', 'Timesheet', 'Timesheets.'),
  '/expenses': page('list_expenses', 'Expense', 'Expenses.'),
  '/expenses/:id': record('get_expense', 'Expense', 'One expense.'),
  '/invoices': page('list_invoices', 'Invoice', 'Invoices.'),
  '/credit-notes/:id': record('get_credit_note', 'CreditNote', 'One credit note.'),
  '/purchase-orders/:id': record(
    'get_purchase_order',
    'PurchaseOrder',
    'One purchase order. Company keys only.',
  ),
  '/workers': {
    operationId: 'createWorker',
    summary: 'Creates a worker, unless one matches. Agency keys only.',
    answer: 'CreatedWorker',
    kind: 'record',
  },
  '/workers/:id': {
    operationId: 'updateWorker',
    summary: 'Updates a worker of the agency. Agency keys only.',
    answer: 'UpdatedWorker',
    kind: 'record',
  },
  '/files/uploads': {
    operationId: 'createFileUpload',
    summary: 'A temporary link to put one file at, and the token that an update of its record takes.',
    answer: 'UploadInstructions',
    kind: 'upload',
  },
}
