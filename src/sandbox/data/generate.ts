/** Generates every collection of the world from seed, scale and day. */
import { makePurchaseOrders, makeRates } from './agreements.ts'
import { type Size, seedOf } from './draw.ts'
import { makeAssignments } from './hiring/assignments.ts'
import { type Engagement, type EngagementMaking, engagementsOf, unworked } from './hiring/engagements.ts'
import { planRequisitions, type RequisitionPlan } from './hiring/requisition-plan.ts'
import { makeRequisitions, requisitionsByPlacement } from './hiring/requisitions.ts'
import { type BilledInvoice, makeCreditNotes, makeInvoices } from './invoices.ts'
import { MasterData, type RecordMaking } from './master/master-data.ts'
import { makeCompetencyMatrix } from './master/trades.ts'
import { makeAccessRuleMappings, makeCompanyUsers } from './master/users.ts'
import { type Expense, makeExpenses } from './work/expenses.ts'
import { makePlacement, type Placement } from './work/placements.ts'
import { makeTimesheet, type WrittenTimesheet } from './work/timesheets.ts'

export function generateRecords(size: Size) {
  const master = new MasterData(seedOf(size))
  const { seed, agencies, companies, projects, sites, users, trades } = master
  const placements = master.making('placements')
  const { worked, written } = work(placements)
  return {
    agencies,
    companies,
    projects,
    sites,
    users,
    companyUsers: makeCompanyUsers(users, projects),
    accessRuleMappings: makeAccessRuleMappings(seed),
    competencyMatrix: makeCompetencyMatrix(seed, trades, projects),
    ...billing(master, written),
    ...hiring(master, placements, worked),
  }
}

/** Makes placements until there are as many timesheets as the scale asks for. */
function work(placements: RecordMaking) {
  const { seed, master } = placements
  const making = master.making('timesheets')
  const worked: Placement[] = []
  const written: WrittenTimesheet[] = []
  while (written.length < seed.counts.timesheets) {
    const placement = makePlacement(placements)
    worked.push(placement)
    for (const week of placement.weeks) {
      const item = makeTimesheet(making, placement, week)
      if (item && written.length < seed.counts.timesheets) written.push(item)
    }
  }
  return { worked, written }
}

/** Expenses, invoices and credit notes follow from timesheets. */
function billing(master: MasterData, written: readonly WrittenTimesheet[]) {
  const claims = master.making('expenses')
  const expenses = written.flatMap(item => makeExpenses(claims, item))
  const billed = makeInvoices(master, written)
  linkExpenses(expenses, billed)
  const creditNotes = makeCreditNotes(master, written, billed)
  return {
    timesheets: written.map(item => item.timesheet).sort(byCreation),
    expenses: expenses.sort(byCreation),
    invoices: billed.map(item => item.invoice).sort(byCreation),
    creditNotes: creditNotes.sort(byCreation),
  }
}

/** Expenses link to the supplier's invoice. The invoice from provider to client names the same timesheets. */
function linkExpenses(expenses: readonly Expense[], billed: readonly BilledInvoice[]): void {
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
function hiring(master: MasterData, placements: RecordMaking, worked: readonly Placement[]) {
  const plans = planRequisitions({ ...master.making('requisitions'), placements }, worked)
  const requisitions = makeRequisitions(master, plans)
  const { orders, byPlacement } = makePurchaseOrders(master, worked)
  const engagements = engage({ ...master.making('engagements'), placements }, worked, plans)
  return {
    trades: master.trades,
    rates: makeRates(master, worked),
    requisitions,
    assignments: makeAssignments(master, engagements, {
      requisitions: requisitionsByPlacement(plans, requisitions),
      orders: byPlacement,
      replacedBy: new Map(
        engagements.flatMap(({ placement, replaces }) => (replaces ? [[replaces, placement] as const] : [])),
      ),
    }),
    purchaseOrders: orders,
  }
}

/** All engagements, with and without timesheets, in order of assignment. */
function engage(
  making: EngagementMaking,
  worked: readonly Placement[],
  plans: readonly RequisitionPlan[],
): Engagement[] {
  const known = new Set(worked)
  const done = worked.flatMap(placement => engagementsOf(making, placement))
  const others = plans.flatMap(({ responses, dropouts }) =>
    responses
      .flatMap(response => response.placements)
      .filter(placement => !known.has(placement))
      .map(placement => unworked(making.draw, placement, dropouts.has(placement))),
  )
  return [...done, ...others].sort((left, right) => left.placement.createdMs - right.placement.createdMs)
}

function byCreation(left: { createdAt: string }, right: { createdAt: string }): number {
  return left.createdAt < right.createdAt ? -1 : left.createdAt > right.createdAt ? 1 : 0
}
