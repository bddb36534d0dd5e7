/** What the reads answer with, from the declarations of the resources. */

import type { Resource } from '../../contract/fields/resource.ts'
import { accessRules } from '../../contract/resources/access-rules.ts'
import { assignments } from '../../contract/resources/assignments.ts'
import { companies } from '../../contract/resources/companies.ts'
import { userAssignments, userPermissions } from '../../contract/resources/company-users.ts'
import { competencyMatrix } from '../../contract/resources/competency-matrix.ts'
import { creditNotes } from '../../contract/resources/credit-notes.ts'
import { expenses } from '../../contract/resources/expenses.ts'
import { invoices } from '../../contract/resources/invoices.ts'
import { key } from '../../contract/resources/key.ts'
import { metricRows } from '../../contract/resources/metric-rows.ts'
import { projects } from '../../contract/resources/projects.ts'
import { purchaseOrders } from '../../contract/resources/purchase-orders.ts'
import { rates } from '../../contract/resources/rates.ts'
import { requisitions } from '../../contract/resources/requisitions.ts'
import { sites } from '../../contract/resources/sites.ts'
import { timesheets } from '../../contract/resources/timesheets.ts'
import { trades } from '../../contract/resources/trades.ts'
import { users } from '../../contract/resources/users.ts'
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
