/** Generates every collection of the world from seed, scale and day. */
import type { Records } from '../world.ts'
import { CreditNoteWriter } from './billing/credit-notes.ts'
import { type Billed, InvoiceWriter } from './billing/invoices.ts'
import { makePurchaseOrders } from './billing/purchase-orders.ts'
import { makeRates } from './billing/rate-cards.ts'
import { AssignmentWriter } from './hiring/assignments.ts'
import { type Engagement, EngagementMaker } from './hiring/engagements.ts'
import { type RequisitionPlan, RequisitionPlanner } from './hiring/requisition-plan.ts'
import { RequisitionWriter, requisitionsByPlacement } from './hiring/requisitions.ts'
import { makeAccessRuleMappings } from './master/access-rules.ts'
import { MasterData } from './master/master-data.ts'
import { makeCompetencyMatrix } from './master/trades.ts'
import { makeCompanyUsers } from './master/users.ts'
import { type Seed, type Size, seedOf } from './seed.ts'
import { type Expense, ExpenseWriter } from './work/expenses.ts'
import { type Placement, PlacementMaker } from './work/placements.ts'
import { TimesheetWriter, type WrittenTimesheet } from './work/timesheets.ts'

/** The start of hiring and billing. */
interface Base {
  readonly seed: Seed
  readonly master: MasterData
  readonly placements: PlacementMaker
}

export function generateRecords(size: Size): Records {
  const seed = seedOf(size)
  const master = new MasterData(seed)
  const base = { seed, master, placements: new PlacementMaker(seed, master) }
  const { worked, written } = writeTimesheets(base)
  const { agencies, companies, projects, sites, users, trades } = master
  return {
    agencies,
    companies,
    projects,
    sites,
    users,
    companyUsers: makeCompanyUsers(users, projects),
    accessRuleMappings: makeAccessRuleMappings(seed),
    competencyMatrix: makeCompetencyMatrix(seed, { trades, projects }),
    ...billing(base, written),
    ...hiring(base, worked),
  }
}

/** Makes placements until there are as many timesheets as the scale asks for. */
function writeTimesheets({ seed, placements }: Base) {
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

/** Expenses, invoices and credit notes follow from timesheets. */
function billing({ seed, master }: Base, written: readonly WrittenTimesheet[]) {
  const claims = new ExpenseWriter(seed)
  const expenses: Expense[] = written.flatMap(item => claims.write(item))
  const billed = new InvoiceWriter(seed, master).write(written)
  linkExpenses(expenses, billed)
  const cancelled = written.filter(item => item.timesheet.status === 'cancelled')
  const creditNotes = new CreditNoteWriter(seed, master.staff).write(cancelled, billed)
  return {
    timesheets: written.map(item => item.timesheet).sort(byCreation),
    expenses: expenses.sort(byCreation),
    invoices: billed.map(item => item.invoice).sort(byCreation),
    creditNotes: creditNotes.sort(byCreation),
  }
}

/** Expenses link to the supplier's invoice. The invoice from provider to client names the same timesheets. */
function linkExpenses(expenses: readonly Expense[], billed: readonly Billed[]): void {
  const own = billed.filter(({ invoice }) => invoice.invoiceType !== 'mspToClient')
  const invoices = new Map(
    own.flatMap(({ invoice, lines }) => lines.map(line => [line.id, invoice] as const)),
  )
  for (const expense of expenses) {
    const invoice = expense.status === 'approved' && expense.timesheet && invoices.get(expense.timesheet.id)
    if (invoice) expense.invoice = { id: invoice.id, reference: invoice.reference }
  }
}

/** Requisitions, the assignments that fill them, and the rates and orders of both. */
function hiring(base: Base, worked: readonly Placement[]) {
  const { seed, master, placements } = base
  const plans = new RequisitionPlanner(seed, master, placements).plan(worked)
  const writer = new RequisitionWriter(seed, master)
  const requisitions = plans.map(plan => writer.write(plan))
  const { orders, byPlacement } = makePurchaseOrders(seed, master, worked)
  const engagements = engage(base, worked, plans)
  const assignments = new AssignmentWriter(seed, master, {
    requisitions: requisitionsByPlacement(plans, requisitions),
    orders: byPlacement,
    replacedBy: new Map(
      engagements.flatMap(({ placement, replaces }) => (replaces ? [[replaces, placement] as const] : [])),
    ),
  })
  return {
    trades: master.trades,
    rates: makeRates(seed, master, worked),
    requisitions,
    assignments: engagements.map(engagement => assignments.write(engagement)),
    purchaseOrders: orders,
  }
}

/** All engagements, with and without timesheets, in order of assignment. */
function engage(
  { seed, master, placements }: Base,
  worked: readonly Placement[],
  plans: readonly RequisitionPlan[],
): Engagement[] {
  const maker = new EngagementMaker(seed, master, placements)
  const known = new Set(worked)
  const done = worked.flatMap(placement => maker.worked(placement))
  const wanted = plans.flatMap(plan =>
    plan.responses
      .flatMap(response => response.placements)
      .filter(placement => !known.has(placement))
      .map(placement => maker.wanted(placement, plan.dropouts.has(placement))),
  )
  return [...done, ...wanted].sort((left, right) => left.placement.createdMs - right.placement.createdMs)
}

function byCreation(left: { createdAt: string }, right: { createdAt: string }): number {
  return left.createdAt < right.createdAt ? -1 : left.createdAt > right.createdAt ? 1 : 0
}
