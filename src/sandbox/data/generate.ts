/** The generated world: every collection, from seed, scale and day alone. */
import type { Records } from '../world.ts'
import { CreditNoteWriter } from './billing/credit-notes.ts'
import { type Invoice, type InvoiceLine, InvoiceWriter } from './billing/invoices.ts'
import { hiring } from './hiring/hiring.ts'
import { makeAccessRuleMappings } from './master/access-rules.ts'
import { makeAgencies, makeCompanies } from './master/companies.ts'
import { makeCompetencyMatrix } from './master/competency.ts'
import { makeProjects, makeSites } from './master/projects.ts'
import { Staff } from './master/staff.ts'
import { makeTrades } from './master/trades.ts'
import { makeCompanyUsers, makeUsers } from './master/users.ts'
import { type Seed, seedOf } from './seed.ts'
import { type Expense, ExpenseWriter } from './work/expenses.ts'
import { type Placement, PlacementMaker, type Stage } from './work/placements.ts'
import { TimesheetWriter, type WrittenTimesheet } from './work/timesheets.ts'

export function generateRecords(options: { seed: number; scale: number; today: string }): Records {
  const seed = seedOf(options)
  const companies = makeCompanies(seed)
  const agencies = makeAgencies(seed)
  const projects = makeProjects(seed, companies)
  const sites = makeSites(seed, projects)
  const users = makeUsers(seed, { companies, agencies, projects })
  const stage = { companies, agencies, projects, sites, users }
  const staff = new Staff(seed, users)
  const placements = new PlacementMaker(seed, stage)
  const { worked, written } = writeTimesheets(seed, placements)
  const trades = makeTrades(seed, companies)
  return {
    agencies,
    companies,
    projects,
    sites,
    users,
    companyUsers: makeCompanyUsers(users, projects),
    accessRuleMappings: makeAccessRuleMappings(seed),
    competencyMatrix: makeCompetencyMatrix(seed, { trades, projects }),
    ...money(seed, { stage, staff, written }),
    ...hiring(seed, { ...stage, staff, placements, worked, trades }),
  }
}

/** What became of timesheets: the expenses beside them, their invoices, and what was credited. */
function money(seed: Seed, { stage, staff, written }: Work) {
  const claims = new ExpenseWriter(seed)
  const expenses: Expense[] = written.flatMap(item => claims.write(item))
  const billed = new InvoiceWriter(seed, {
    companies: stage.companies,
    approver: id => stage.users.find(user => user.role === 'companyFinance' && user.companies.includes(id)),
  }).write(written)
  linkExpenses(expenses, billed)
  const cancelled = written.filter(item => item.timesheet.status === 'cancelled')
  const creditNotes = new CreditNoteWriter(seed, staff).write(cancelled, billed)
  return {
    timesheets: written.map(item => item.timesheet).sort(byCreation),
    expenses: expenses.sort(byCreation),
    invoices: billed.map(item => item.invoice).sort(byCreation),
    creditNotes: creditNotes.sort(byCreation),
  }
}

interface Work {
  readonly stage: Stage
  readonly staff: Staff
  readonly written: readonly WrittenTimesheet[]
}

function writeTimesheets(seed: Seed, placements: PlacementMaker) {
  const writer = new TimesheetWriter(seed)
  const worked: Placement[] = []
  const written: WrittenTimesheet[] = []
  while (written.length < seed.counts.timesheets) {
    const placement = placements.make()
    worked.push(placement)
    for (const week of placement.weeks) {
      const item = writer.write(placement, week)
      if (item && written.length < seed.counts.timesheets) written.push(item)
    }
  }
  return { worked, written }
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
