/** Access rules: the roles that may do each action, as global mappings and as a project user's permissions. */
import type { Seed } from '../seed.ts'

const office = ['companyAdmin', 'companyFinance', 'projectAdmin', 'projectApprover']
const approvers = ['companyAdmin', 'projectAdmin', 'projectApprover']
const admins = ['companyAdmin', 'projectAdmin']

/** Action -> the roles that may do it. */
const rules: Readonly<Record<string, readonly string[]>> = {
  'requisition.create': [...admins, 'projectRequestor'],
  'requisition.approve': approvers,
  'requisition.cancel': admins,
  'assignment.end': [...admins, 'ldAdmin'],
  'assignment.amend': admins,
  'timesheet.view': [...office, 'projectFinance', 'projectRequestor', 'ldAdmin', 'ldUser'],
  'timesheet.amend': [...admins, 'projectRequestor', 'ldUser'],
  'timesheet.approve': approvers,
  'expense.approve': approvers,
  'invoice.view': [...office, 'projectFinance', 'ldAdmin'],
  'invoice.confirm': ['companyAdmin', 'companyFinance', 'projectFinance'],
  'user.manage': [...admins, 'ldAdmin'],
}

/** Action -> the key of a company's configuration that may restrict it. */
const configKeys: Readonly<Record<string, string>> = {
  'requisition.approve': 'multiStageApproval.req',
  'assignment.amend': 'supplierActions.amendShift',
  'timesheet.amend': 'timesheetAdjustment.company',
  'invoice.confirm': 'supplierActions.markInvoicePaid',
}

export const roleLabels: Readonly<Record<string, string>> = {
  projectAdmin: 'Project Admin',
  projectFinance: 'Project Finance',
  projectApprover: 'Project Approver',
  projectRequestor: 'Project Requestor',
}

export function makeAccessRuleMappings(seed: Seed) {
  const draw = seed.draw('access rules')
  return Object.entries(rules).flatMap(([can, roles]) =>
    roles.map(role => ({
      id: draw.id(seed.firstWeekMs),
      a: role,
      can,
      ...(configKeys[can] === undefined ? {} : { configKey: configKeys[can] }),
      type: 'RBAC',
    })),
  )
}

const permissionsByRole = new Map<string, readonly object[]>()

/** One shared list per role: no generated user has overrides. */
export function projectPermissions(role: string): readonly object[] {
  const known =
    permissionsByRole.get(role) ??
    Object.entries(rules).map(([id, roles]) => ({ id, ...described(id), permitted: roles.includes(role) }))
  permissionsByRole.set(role, known)
  return known
}

function described(action: string): { name: string; category: string } {
  const [noun = '', verb = ''] = action.split('.')
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  return { name: `${capital(verb)} ${noun}s`, category: noun === 'invoice' ? 'Finance' : `${capital(noun)}s` }
}
