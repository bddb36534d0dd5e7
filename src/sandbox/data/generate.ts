/** The generated world: every collection, from seed, scale and day alone. */
import type { Records } from '../world.ts'
import { makeAccessRuleMappings } from './access-rules.ts'
import { makeAgencies, makeCompanies } from './companies.ts'
import { makeCompetencyMatrix, makeTrades } from './competency.ts'
import { type Expense, ExpenseWriter } from './expenses.ts'
import { type Invoice, type InvoiceLine, InvoiceWriter } from './invoices.ts'
import { makeMetricRows } from './metric-rows.ts'
import { PlacementMaker, type Stage } from './placements.ts'
import { makeProjects, makeSites } from './projects.ts'
import { type Scene, sceneOf } from './scene.ts'
import { TimesheetWriter, type WrittenTimesheet } from './timesheets.ts'
import { makeCompanyUsers, makeUsers } from './users.ts'

export function generateRecords(options: { seed: number; scale: number; today: string }): Records {
  const scene = sceneOf(options)
  const companies = makeCompanies(scene)
  const agencies = makeAgencies(scene)
  const projects = makeProjects(scene, companies)
  const sites = makeSites(scene, projects)
  const users = makeUsers(scene, { companies, agencies, projects })
  const stage = { companies, agencies, projects, sites, users }
  return {
    agencies,
    companies,
    projects,
    sites,
    users,
    companyUsers: makeCompanyUsers(users, projects),
    accessRuleMappings: makeAccessRuleMappings(scene),
    competencyMatrix: makeCompetencyMatrix(scene, { trades: makeTrades(scene, companies), projects }),
    metricRows: makeMetricRows(scene, stage),
    ...work(scene, stage),
  }
}

function work(scene: Scene, stage: Stage) {
  const written = writeTimesheets(scene, stage)
  const claims = new ExpenseWriter(scene)
  const expenses: Expense[] = written.flatMap(item => claims.write(item))
  const billed = new InvoiceWriter(scene, {
    companies: stage.companies,
    approver: id => stage.users.find(user => user.role === 'companyFinance' && user.companies.includes(id)),
  }).write(written)
  linkExpenses(expenses, billed)
  return {
    timesheets: written.map(item => item.timesheet).sort(byCreation),
    expenses: expenses.sort(byCreation),
    invoices: billed.map(item => item.invoice).sort(byCreation),
  }
}

function writeTimesheets(scene: Scene, stage: Stage): WrittenTimesheet[] {
  const placements = new PlacementMaker(scene, stage)
  const writer = new TimesheetWriter(scene)
  const written: WrittenTimesheet[] = []
  while (written.length < scene.counts.timesheets) {
    const placement = placements.make()
    for (const week of placement.weeks) {
      const item = writer.write(placement, week)
      if (item && written.length < scene.counts.timesheets) written.push(item)
    }
  }
  return written
}

/** To the supplier's own invoice: what the managed service provider bills on names the same timesheets. */
function linkExpenses(
  expenses: readonly Expense[],
  billed: readonly { invoice: Invoice; lines: readonly InvoiceLine[] }[],
) {
  const invoices = new Map<string, Invoice>()
  for (const { invoice, lines } of billed) {
    if (invoice.invoiceType === 'mspToClient') continue
    for (const line of lines) invoices.set(line.id, invoice)
  }
  for (const expense of expenses) {
    const invoice = expense.status === 'approved' && expense.timesheet && invoices.get(expense.timesheet.id)
    if (invoice) expense.invoice = { id: invoice.id, reference: invoice.reference }
  }
}

function byCreation(left: { createdAt: string }, right: { createdAt: string }): number {
  return left.createdAt < right.createdAt ? -1 : left.createdAt > right.createdAt ? 1 : 0
}
