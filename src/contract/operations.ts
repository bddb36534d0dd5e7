/**
 * Declares every read of the contract except `/me`, with its parameters. The client's typed methods and `muster get` derive
 * from it. The comment above each read says what it returns.
 */

import { page, type RecordHolder, record } from './fields/operation.ts'
import { accessRules } from './resources/access-rules.ts'
import { assignments } from './resources/assignments.ts'
import { companies } from './resources/companies.ts'
import { userAssignments, userPermissions } from './resources/company-users.ts'
import type { competencyMatrix } from './resources/competency-matrix.ts'
import { creditNotes } from './resources/credit-notes.ts'
import { expenseCategories, expenses } from './resources/expenses.ts'
import { invoices } from './resources/invoices.ts'
import { metricRows } from './resources/metric-rows.ts'
import { projects } from './resources/projects.ts'
import { purchaseOrders } from './resources/purchase-orders.ts'
import { rates } from './resources/rates.ts'
import { requisitions } from './resources/requisitions.ts'
import { sites } from './resources/sites.ts'
import { timesheets } from './resources/timesheets.ts'
import { trades } from './resources/trades.ts'
import { baseRoles, users } from './resources/users.ts'

const paged = { page: 'count', limit: 'count', fields: 'names' } as const
const paging = { ...paged, sortOrder: ['asc', 'desc'] } as const
const dated = { query: 'text', from: 'day', to: 'day' } as const
const status = ['active', 'inactive'] as const
const withConfig = { includeConfig: 'flag' } as const
const ofCompany = { ...paged, status } as const

type RowOf<Any> = Any extends RecordHolder<infer Row> ? Row : never
type NamedRecord = { readonly id: string; readonly name: string }

const matrix: RecordHolder<{
  readonly company?: NamedRecord
  /** Present only for a project. */
  readonly project?: NamedRecord
  readonly entries?: readonly RowOf<typeof competencyMatrix>[]
}> = {}

/** `a` and `rules` of a role; `can`, maybe `configKey`, and `rules` of a rule. */
const ruleGroups: RecordHolder<
  RowOf<typeof accessRules> & { readonly rules: readonly RowOf<typeof accessRules>[] }
> = {}

const rules = { ...paged, role: 'text', action: 'text', query: 'text' } as const

const metrics = {
  ...paged,
  company: 'ids',
  project: 'id',
  agency: 'ids',
  from: 'day',
  to: 'day',
} as const
interface MetricGroup {
  /** One property for each key of groupBy; empty for `all`. The contract does not show the values. */
  readonly group: Readonly<Record<string, unknown>>
}

/** Days from the approval of requisitions to the acceptance by agencies, without outliers beyond 1.5 interquartile ranges. */
type TimeToFill = MetricGroup & {
  /** Acceptances before outliers were excluded. */
  readonly rawCount: number
  readonly excludedOutliers: number
  /** Days. */
  readonly iqrBounds: { readonly lower: number | null; readonly upper: number | null }
  /** Figures of the acceptances within the bounds. */
  readonly values: { readonly count: number } & Readonly<
    Record<'averageDays' | 'medianDays' | 'minDays' | 'maxDays' | 'p25Days' | 'p75Days', number | null>
  >
}

/** Worker-weeks beyond a number of hours. */
type WorkersOverHours = MetricGroup & {
  readonly values: {
    /** Which hours of a timesheet were counted. */
    readonly hoursField: string
  } & Readonly<
    Record<
      | 'thresholdHours'
      | 'workerWeeks'
      | 'workersOverThreshold'
      | 'distinctWorkersOverThreshold'
      | 'totalHours'
      | 'averageWeeklyHours'
      | 'maxWeeklyHours',
      number
    >
  >
}

const fillGroups: RecordHolder<TimeToFill> = {}
const hoursGroups: RecordHolder<WorkersOverHours> = {}

const metricsPath = '/requisitions/recruitment-metrics'
const groupBy = { some: ['all', 'company', 'project', 'agency', 'month', 'week'] } as const

export const operations = {
  /** Hiring companies. `query` searches names; `from` and `to` are days of creation. Company keys only (403). */
  listCompanies: page('/companies', companies, {
    ...{ ...paging, ...dated, ...withConfig, status },
    sortBy: ['createdAt', 'updatedAt', 'name'],
  }),
  /** One company. Company keys only (403); an id out of reach is 404. */
  readCompany: record('/companies/{id}', companies, withConfig),
  /** Qualifications that trades of a company need; with `projectId` those in effect on that project. Company keys only. */
  readCompetencyMatrix: record('/companies/{id}/competency-matrix', matrix, { projectId: 'id' }),
  /** Users of a company and what they may do on its projects; a missing permission does not mean denied. Company keys with read:users. */
  listUserPermissions: page('/companies/{id}/user-permissions', userPermissions, ofCompany),
  /** Users of a company and their projects, inactive ones too. Company keys with read:users. */
  listUserAssignments: page('/companies/{id}/user-assignments', userAssignments, ofCompany),
  /** What each role may do by default. `role` and `action` match exactly. Company keys only. */
  listAccessRules: page('/access-rule-mappings', accessRules, {
    ...rules,
    ...{ sortBy: ['a', 'can', 'configKey'], sortOrder: ['asc', 'desc'] },
  }),
  /** The same in groups: `limit` and `meta.total` count groups. Give `groupBy`. Company keys only. */
  groupAccessRules: page('/access-rule-mappings', ruleGroups, { ...rules, groupBy: ['role', 'rule'] }),
  /** Projects. `query` searches names and codes; `region` and `sector` are ids. Company keys only. */
  listProjects: page('/projects', projects, {
    ...{ ...paging, ...dated, ...withConfig, status, company: 'ids', region: 'id', sector: 'id' },
    sortBy: ['createdAt', 'updatedAt', 'name', 'code'],
  }),
  /** One project. Company keys only. */
  readProject: record('/projects/{id}', projects, withConfig),
  /** Sites. `query` searches names. Company keys only. */
  listSites: page('/sites', sites, {
    ...{ ...paging, ...dated, status, company: 'ids', project: 'id' },
    sortBy: ['createdAt', 'updatedAt', 'name'],
  }),
  /** One site. */
  readSite: record('/sites/{id}', sites, {}),
  /** One trade, by id or short id. The matrix it includes leaves the requirements of projects out. */
  readTrade: record('/trades/{id}', trades, { includeRates: 'flag', includeCompetencyMatrix: 'flag' }),
  /** One rate, by id or short id; amounts an hour, a day or a unit, in the currency of the company. Needs read:rates. */
  readRate: record('/rates/{id}', rates, {}),
  /**
   * Public profiles. `company` and `project` are for company keys, `agency` is for agency keys (400). Needs read:users
   * and an active, verified owner of the key (403); a company, project or agency out of reach is 404.
   */
  listUsers: page('/users', users, {
    ...{ ...paging, status, query: 'text', company: 'ids', project: 'ids', agency: 'ids' },
    role: baseRoles,
    sortBy: ['createdAt', 'updatedAt', 'name', 'email'],
  }),
  /** One requisition, by id or short id. Stages come only where the company tracks them. */
  readRequisition: record('/requisitions/{id}', requisitions, { includeStageTracking: 'flag' }),
  /**
   * Recruitment, a row for each worker submitted: dates as DD/MM/YYYY, whole days. `from` and `to` are days of the
   * requisition's creation. Company keys only, companies that track stages only.
   */
  listRecruitment: {
    ...page(metricsPath, metricRows, {
      ...metrics,
      ...{ sortBy: ['createdAt', 'reqRef'], sortOrder: ['asc', 'desc'] },
    }),
    fixed: { metric: 'rows' },
  },
  /** Days from approval to acceptance, by group, without outliers. `from` and `to` are days of the acceptance. */
  timeToFill: { ...page(metricsPath, fillGroups, { ...metrics, groupBy }), fixed: { metric: 'timeToFill' } },
  /**
   * Worker-weeks beyond `hoursThreshold` net hours a week (48 when left out), by group. `from` and `to` are days of
   * the week ending.
   */
  workersOverHours: {
    ...page(metricsPath, hoursGroups, { ...metrics, groupBy, hoursThreshold: 'number' }),
    fixed: { metric: 'workersOverHours' },
  },
  /** One assignment, by id or short id; distances in miles. */
  readAssignment: record('/assignments/{id}', assignments, {}),
  /** Timesheets; hours and money of each. `from` and `to` are days of `dateField`, else of the creation. */
  listTimesheets: page('/timesheets', timesheets, {
    ...{ ...paging, ...dated, company: 'ids', project: 'ids', site: 'ids', assignment: 'ids' },
    ...{ worker: 'ids', agency: 'ids', includeTimelogs: 'flag' },
    status: ['pending', 'pending_approval', 'approved', 'cancelled', 'absent'],
    dateField: ['createdAt', 'updatedAt', 'start', 'end', 'weekEnding', 'approvedDate'],
    sortBy: ['createdAt', 'updatedAt', 'timesheetRef', 'start', 'weekEnding', 'approvedDate'],
  }),
  /** Expenses. `from` and `to` are days of `dateField`, else of the expense itself. */
  listExpenses: page('/expenses', expenses, {
    ...{ ...paging, ...dated, company: 'ids', project: 'id', timesheet: 'id', worker: 'id', agency: 'id' },
    status: ['pending', 'approved', 'rejected'],
    category: expenseCategories,
    dateField: ['date', 'createdAt', 'updatedAt', 'approvalDate'],
    sortBy: ['createdAt', 'updatedAt', 'date', 'value', 'status', 'category'],
  }),
  /** One expense. */
  readExpense: record('/expenses/{id}', expenses, {}),
  /** Invoices. `from` and `to` are days of `dateField`, else of the creation. */
  listInvoices: page('/invoices', invoices, {
    ...{ ...paging, ...dated, company: 'ids', project: 'id', agency: 'id', status: ['pending', 'confirmed'] },
    invoiceType: ['supplierToClient', 'supplierToMsp', 'mspToClient'],
    mspInvoiceType: ['receivable', 'payable'],
    dateField: ['createdAt', 'confirmedDate', 'due', 'weekEnding'],
    sortBy: ['createdAt', 'updatedAt', 'invoiceRef', 'due', 'weekEnding', 'confirmedDate'],
  }),
  /** One credit note, by id or short id. */
  readCreditNote: record('/credit-notes/{id}', creditNotes, {}),
  /** One purchase order. Company keys only. */
  readPurchaseOrder: record('/purchase-orders/{id}', purchaseOrders, {}),
}
