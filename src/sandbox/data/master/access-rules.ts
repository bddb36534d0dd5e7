/** Which role may do what: the global mappings, and the same as permissions of a project user. */
import type { Seed } from '../seed.ts'

interface Rule {
  readonly can: string
  readonly name: string
  readonly category: string
  readonly roles: readonly string[]
  readonly configKey?: string
}

const everyCompanyRole = ['companyAdmin', 'companyFinance', 'projectAdmin', 'projectApprover']

const rules: readonly Rule[] = [
  {
    can: 'requisition.create',
    name: 'Create requisitions',
    category: 'Requisitions',
    roles: ['companyAdmin', 'projectAdmin', 'projectRequestor'],
  },
  {
    can: 'requisition.approve',
    name: 'Approve requisitions',
    category: 'Requisitions',
    roles: ['companyAdmin', 'projectAdmin', 'projectApprover'],
    configKey: 'multiStageApproval.req',
  },
  {
    can: 'requisition.cancel',
    name: 'Cancel requisitions',
    category: 'Requisitions',
    roles: ['companyAdmin', 'projectAdmin'],
  },
  {
    can: 'assignment.end',
    name: 'End assignments',
    category: 'Assignments',
    roles: ['companyAdmin', 'projectAdmin', 'ldAdmin'],
  },
  {
    can: 'assignment.amend',
    name: 'Amend assignments',
    category: 'Assignments',
    roles: ['companyAdmin', 'projectAdmin'],
    configKey: 'supplierActions.amendShift',
  },
  {
    can: 'timesheet.view',
    name: 'View timesheets',
    category: 'Timesheets',
    roles: [...everyCompanyRole, 'projectFinance', 'projectRequestor', 'ldAdmin', 'ldUser'],
  },
  {
    can: 'timesheet.amend',
    name: 'Amend timesheets',
    category: 'Timesheets',
    roles: ['companyAdmin', 'projectAdmin', 'projectRequestor', 'ldUser'],
    configKey: 'timesheetAdjustment.company',
  },
  {
    can: 'timesheet.approve',
    name: 'Approve timesheets',
    category: 'Timesheets',
    roles: ['companyAdmin', 'projectAdmin', 'projectApprover'],
  },
  {
    can: 'expense.approve',
    name: 'Approve expenses',
    category: 'Expenses',
    roles: ['companyAdmin', 'projectAdmin', 'projectApprover'],
  },
  {
    can: 'invoice.view',
    name: 'View invoices',
    category: 'Finance',
    roles: [...everyCompanyRole, 'projectFinance', 'ldAdmin'],
  },
  {
    can: 'invoice.confirm',
    name: 'Confirm invoices',
    category: 'Finance',
    roles: ['companyAdmin', 'companyFinance', 'projectFinance'],
    configKey: 'supplierActions.markInvoicePaid',
  },
  {
    can: 'user.manage',
    name: 'Manage users',
    category: 'Users',
    roles: ['companyAdmin', 'projectAdmin', 'ldAdmin'],
  },
]

export const roleLabels: Readonly<Record<string, string>> = {
  projectAdmin: 'Project Admin',
  projectFinance: 'Project Finance',
  projectApprover: 'Project Approver',
  projectRequestor: 'Project Requestor',
}

export function makeAccessRuleMappings(seed: Seed) {
  const draw = seed.draw('access rules')
  return rules.flatMap(rule =>
    rule.roles.map(role => ({
      id: draw.id(seed.firstWeekMs),
      a: role,
      can: rule.can,
      ...(rule.configKey === undefined ? {} : { configKey: rule.configKey }),
      type: 'RBAC',
    })),
  )
}

const permissionsByRole = new Map<string, readonly object[]>()

/** One shared list a role: no generated user overrides anything. */
export function projectPermissions(role: string): readonly object[] {
  const known =
    permissionsByRole.get(role) ??
    rules.map(rule => ({
      id: rule.can,
      name: rule.name,
      category: rule.category,
      permitted: rule.roles.includes(role),
    }))
  permissionsByRole.set(role, known)
  return known
}
