/** What the reads answer with, from the declarations of the resources. */
import { accessRules } from '../../resources/access-rules.ts'
import { assignments } from '../../resources/assignments.ts'
import { companies } from '../../resources/companies.ts'
import { userAssignments, userPermissions } from '../../resources/company-users.ts'
import { competencyMatrix } from '../../resources/competency-matrix.ts'
import { creditNotes } from '../../resources/credit-notes.ts'
import { expenses } from '../../resources/expenses.ts'
import { invoices } from '../../resources/invoices.ts'
import { key } from '../../resources/key.ts'
import { metricRows } from '../../resources/metric-rows.ts'
import { projects } from '../../resources/projects.ts'
import { purchaseOrders } from '../../resources/purchase-orders.ts'
import { rates } from '../../resources/rates.ts'
import { requisitions } from '../../resources/requisitions.ts'
import type { Resource } from '../../resources/resource.ts'
import { sites } from '../../resources/sites.ts'
import { timesheets } from '../../resources/timesheets.ts'
import { trades } from '../../resources/trades.ts'
import { users } from '../../resources/users.ts'
import { closed, type JsonSchema, list, named, text } from './json-schema.ts'
import { recordSchema } from './record-schema.ts'

const records: Readonly<Record<string, Resource>> = {
  Company: companies,
  Project: projects,
  Site: sites,
  Trade: trades,
  Rate: rates,
  User: users,
  CompanyUser: userAssignments,
  CompanyUserWithPermissions: userPermissions,
  AccessRuleMapping: accessRules,
  CompetencyMatrixEntry: competencyMatrix,
  Requisition: requisitions,
  RecruitmentMetricRow: metricRows,
  Assignment: assignments,
  Timesheet: timesheets,
  Expense: expenses,
  Invoice: invoices,
  CreditNote: creditNotes,
  PurchaseOrder: purchaseOrders,
}

const rules = list(named('AccessRuleMapping'))

export const readSchemas: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(Object.entries(records).map(([name, { table }]) => [name, recordSchema(table)])),
  Ref: closed({ id: text, name: text }),
  Key: recordSchema(key.table, [
    'name',
    'scopes',
    'rateLimitPerMinute',
    'rateLimitPerDay',
    'createdAt',
    'usage',
  ]),
  CompetencyMatrix: closed(
    {
      company: named('Ref'),
      project: named('Ref'),
      entries: list(named('CompetencyMatrixEntry')),
    },
    { required: ['company', 'entries'] },
  ),
  AccessRuleGroup: closed(
    { a: text, can: text, configKey: { type: ['string', 'null'] }, rules },
    { required: [] },
  ),
  AccessRuleMappingOrGroup: {
    description: 'A mapping, or a group when `groupBy` asks for them.',
    anyOf: ['AccessRuleMapping', 'AccessRuleGroup'].map(named),
  },
}
