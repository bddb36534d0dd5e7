/** The seven plain lists of the contract: which field of the answer each parameter looks at, typed out of section 4. */
import type { KeyName } from './stand.ts'

export interface ListDeclaration {
  readonly path: string
  readonly sort: readonly string[]
  /** Where the contract states them. */
  readonly sortDefault?: { readonly by: string; readonly order: 'asc' | 'desc' }
  readonly search: readonly string[]
  /** Fields of `from` and `to`; the first is the default, `dateField` exists where there are several. */
  readonly dates: readonly string[]
  /** Values of parameters, and the field that has them. */
  readonly choices: Readonly<Record<string, { readonly values: readonly string[]; readonly field: string }>>
  /** Parameters that take ids, and where those stand in a row. */
  readonly ids: Readonly<Record<string, string>>
  /** Of these, those that the contract says take several. */
  readonly several: readonly string[]
  /** Flags, and the field each adds. */
  readonly includes: Readonly<Record<string, string>>
  /** Filters that belong to another key than the company's. */
  readonly keys?: Readonly<Record<string, KeyName>>
}

const status = (...values: string[]) => ({ values, field: 'status' })
const active = { values: ['active', 'inactive'], field: 'active' }
const byName = { by: 'name', order: 'asc' } as const
const master = {
  sortDefault: byName,
  dates: ['createdAt'],
  choices: { status: active },
  includes: {},
  several: [],
  ids: {},
}
const ofCompany = { company: 'company.id' }

export const LISTS: readonly ListDeclaration[] = [
  {
    ...master,
    path: '/companies',
    sort: ['createdAt', 'updatedAt', 'name'],
    search: ['name'],
    includes: { includeConfig: 'config' },
  },
  {
    ...master,
    path: '/projects',
    sort: ['createdAt', 'updatedAt', 'name', 'code'],
    search: ['name', 'code'],
    ids: { ...ofCompany, region: 'region.id', sector: 'sector.id' },
    several: ['company'],
    includes: { includeConfig: 'config' },
  },
  {
    ...master,
    path: '/sites',
    sort: ['createdAt', 'updatedAt', 'name'],
    search: ['name'],
    ids: { ...ofCompany, project: 'project.id' },
    several: ['company'],
  },
  {
    ...master,
    path: '/users',
    sort: ['createdAt', 'updatedAt', 'name', 'email'],
    search: ['name', 'email', 'jobTitle'],
    dates: [],
    choices: {
      status: active,
      role: {
        values: [
          ...['companyAdmin', 'companyFinance', 'companyBot', 'projectAdmin', 'projectFinance'],
          ...['projectApprover', 'projectRequestor', 'ldAdmin', 'ldUser'],
        ],
        field: 'role',
      },
    },
    ids: { company: 'companies', project: 'projects', agency: 'agencies' },
    several: ['company', 'project', 'agency'],
    keys: { agency: 'several agencies' },
  },
  {
    path: '/timesheets',
    sort: ['createdAt', 'updatedAt', 'timesheetRef', 'start', 'weekEnding', 'approvedDate'],
    search: ['reference', 'worker.name', 'agency.name'],
    dates: ['createdAt', 'updatedAt', 'start', 'end', 'weekEnding', 'approvedDate'],
    choices: { status: status('pending', 'pending_approval', 'approved', 'cancelled', 'absent') },
    ids: {
      ...ofCompany,
      ...{ project: 'project.id', site: 'site.id', assignment: 'assignment.id' },
      ...{ worker: 'worker.id', agency: 'agency.id' },
    },
    several: ['company', 'project', 'site', 'assignment', 'worker', 'agency'],
    includes: { includeTimelogs: 'timelogs' },
  },
  {
    path: '/expenses',
    sort: ['createdAt', 'updatedAt', 'date', 'value', 'status', 'category'],
    search: ['category', 'description'],
    dates: ['date', 'createdAt', 'updatedAt', 'approvalDate'],
    choices: {
      status: status('pending', 'approved', 'rejected'),
      category: {
        values: [
          ...['Accommodation', 'Bonus', 'Driving hours', 'Flat rate hours', 'Fuel'],
          ...['Manager authorised hours', 'Mileage', 'On-call', 'Other', 'Out-of-hours callout'],
          ...['Parking', 'Plant', 'Price work', 'Training hours', 'Vehicles'],
        ],
        field: 'category',
      },
    },
    ids: {
      ...ofCompany,
      ...{ project: 'project.id', timesheet: 'timesheet.id', worker: 'worker.id', agency: 'agency.id' },
    },
    several: ['company'],
    includes: {},
  },
  {
    path: '/invoices',
    sort: ['createdAt', 'updatedAt', 'invoiceRef', 'due', 'weekEnding', 'confirmedDate'],
    search: [
      ...['reference', 'company.name', 'projects.name', 'agency.name', 'msp.name'],
      'timesheets.reference',
    ],
    dates: ['createdAt', 'confirmedDate', 'due', 'weekEnding'],
    choices: {
      status: status('pending', 'confirmed'),
      invoiceType: {
        values: ['supplierToClient', 'supplierToMsp', 'mspToClient'],
        field: 'invoiceType',
      },
      mspInvoiceType: { values: ['receivable', 'payable'], field: 'mspInvoiceType' },
    },
    ids: { ...ofCompany, project: 'projects.id', agency: 'agency.id' },
    several: ['company'],
    includes: {},
  },
]

/** Sort values that are no field of the row. */
export const sortField = (name: string): string =>
  ['timesheetRef', 'invoiceRef'].includes(name) ? 'reference' : name
