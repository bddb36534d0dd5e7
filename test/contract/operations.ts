/** The operations of the contract, typed out of its section 4: who may call them, their parameters and errors. */

const lists = ['page', 'limit', 'fields', 'sortBy', 'sortOrder']
const dated = ['query', 'from', 'to']
const common = [401, 403, 405, 429, 500]

export interface Operation {
  /** Method and path. */
  readonly name: string
  readonly answers: 'list' | 'record'
  /** Whose keys may call it: a dash of the contract is `any`. */
  readonly keys: 'company' | 'agency' | 'any'
  /** The scope that the contract names for it. */
  readonly scope?: string
  /** Of the query, without those of the path. */
  readonly parameters: readonly string[]
  /** As listed for it; 405 belongs to every route, and what is not shown takes the common set. */
  readonly errors: readonly number[]
}

function list(name: string, parameters: readonly string[], rest: Partial<Operation> = {}): Operation {
  return { name: `GET ${name}`, answers: 'list', keys: 'any', errors: common, parameters, ...rest }
}

function record(name: string, rest: Partial<Operation> = {}): Operation {
  const errors = [401, 403, 404, 405, 429, 500]
  return { name: `GET ${name}`, answers: 'record', keys: 'any', parameters: [], errors, ...rest }
}

const company = { keys: 'company' } as const
const everyRead = [400, 401, 403, 404, 405, 429, 500]
const companyUsers = { ...company, scope: 'read:users', errors: everyRead }
const companyUserParameters = ['status', 'page', 'limit', 'fields']
const agencyWrite = {
  answers: 'record',
  keys: 'agency',
  scope: 'write:workers',
  parameters: ['agency'],
} as const

export const OPERATIONS: readonly Operation[] = [
  record('/me', { errors: [401, 405, 429, 500] }),
  list('/companies', [...lists, ...dated, 'status', 'includeConfig'], company),
  record('/companies/{id}', { ...company, parameters: ['includeConfig'], errors: everyRead }),
  record('/companies/{id}/competency-matrix', { ...company, parameters: ['projectId'], errors: everyRead }),
  list('/companies/{id}/user-permissions', companyUserParameters, companyUsers),
  list('/companies/{id}/user-assignments', companyUserParameters, companyUsers),
  list('/access-rule-mappings', [...lists, 'groupBy', 'role', 'action', 'query'], {
    ...company,
    errors: [400, ...common],
  }),
  list('/projects', [...lists, ...dated, 'company', 'status', 'region', 'sector', 'includeConfig'], company),
  record('/projects/{id}', { ...company, parameters: ['includeConfig'] }),
  list('/sites', [...lists, ...dated, 'company', 'status', 'project'], company),
  record('/sites/{id}'),
  record('/trades/{id}', { parameters: ['includeRates', 'includeCompetencyMatrix'], errors: everyRead }),
  record('/rates/{id}', { scope: 'read:rates', errors: everyRead }),
  list('/users', [...lists, 'company', 'project', 'agency', 'role', 'status', 'query'], {
    scope: 'read:users',
    errors: everyRead,
  }),
  record('/requisitions/{id}', { parameters: ['includeStageTracking'] }),
  list(
    '/requisitions/recruitment-metrics',
    [...lists, 'company', 'project', 'agency', 'metric', 'groupBy', 'hoursThreshold', 'from', 'to'],
    { ...company, errors: [400, ...common] },
  ),
  record('/assignments/{id}'),
  list(
    '/timesheets',
    [
      ...[...lists, ...dated, 'company', 'status', 'project', 'site', 'assignment', 'worker', 'agency'],
      ...['dateField', 'includeTimelogs'],
    ],
    { errors: [400, ...common] },
  ),
  list('/expenses', [
    ...[...lists, ...dated, 'company', 'status', 'project', 'timesheet', 'worker', 'agency'],
    ...['category', 'dateField'],
  ]),
  record('/expenses/{id}'),
  list('/invoices', [
    ...[...lists, ...dated, 'company', 'status', 'project', 'agency'],
    ...['invoiceType', 'mspInvoiceType', 'dateField'],
  ]),
  record('/credit-notes/{id}'),
  record('/purchase-orders/{id}', company),
  { name: 'POST /workers', ...agencyWrite, errors: [400, 401, 403, 405, 409, 413, 429, 500] },
  { name: 'PATCH /workers/{id}', ...agencyWrite, errors: [400, 401, 403, 404, 405, 409, 413, 429, 500] },
  {
    name: 'POST /files/uploads',
    answers: 'record',
    keys: 'any',
    parameters: ['agency', 'company'],
    errors: everyRead,
  },
]
