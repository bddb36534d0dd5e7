/** One audit for each mart: what its header says, computed again without its SQL. */
import type { Audit } from './compare.ts'
import { accessReview } from './marts/access-review.ts'
import { accrualMonthEnd } from './marts/accrual-month-end.ts'
import { agencyMargin } from './marts/agency-margin.ts'
import { approvalCycle } from './marts/approval-cycle.ts'
import { assignmentTenure } from './marts/assignment-tenure.ts'
import { attendanceWeekly } from './marts/attendance-weekly.ts'
import { complianceRegister } from './marts/compliance-register.ts'
import { costCodeSpend } from './marts/cost-code-spend.ts'
import { expenseSummary } from './marts/expense-summary.ts'
import { headcountWeekly } from './marts/headcount-weekly.ts'
import { invoiceLedger } from './marts/invoice-ledger.ts'
import { invoiceMatch } from './marts/invoice-match.ts'
import { labourSpendWeekly } from './marts/labour-spend-weekly.ts'
import { lostPlacements } from './marts/lost-placements.ts'
import { openDemand } from './marts/open-demand.ts'
import { overtimeUplift } from './marts/overtime-uplift.ts'
import { paymentAgeing } from './marts/payment-ageing.ts'
import { programmeFill } from './marts/programme-fill.ts'
import { purchaseOrderBurn } from './marts/purchase-order-burn.ts'
import { purchaseOrderForecast } from './marts/purchase-order-forecast.ts'
import { rateCardCoverage } from './marts/rate-card-coverage.ts'
import { rateCompliance } from './marts/rate-compliance.ts'
import { requisitionFunnel } from './marts/requisition-funnel.ts'
import { retentionCurve } from './marts/retention-curve.ts'
import { spendConcentration } from './marts/spend-concentration.ts'
import { stageDuration } from './marts/stage-duration.ts'
import { supplierScorecard } from './marts/supplier-scorecard.ts'
import { timeToFill, timeToFillDetail } from './marts/time-to-fill.ts'
import { timesheetCycle } from './marts/timesheet-cycle.ts'
import { timesheetStateWeekly } from './marts/timesheet-state-weekly.ts'
import { unbilledAccrual } from './marts/unbilled-accrual.ts'
import { workerWeek } from './marts/worker-week.ts'
import { workersOverHours } from './marts/workers-over-hours.ts'
import { workforceFlow } from './marts/workforce-flow.ts'
import { workingTimeWeekly } from './marts/working-time-weekly.ts'

export const audits: readonly Audit[] = [
  accessReview,
  agencyMargin,
  approvalCycle,
  assignmentTenure,
  attendanceWeekly,
  complianceRegister,
  costCodeSpend,
  expenseSummary,
  invoiceLedger,
  invoiceMatch,
  labourSpendWeekly,
  lostPlacements,
  openDemand,
  paymentAgeing,
  programmeFill,
  purchaseOrderForecast,
  rateCardCoverage,
  rateCompliance,
  retentionCurve,
  spendConcentration,
  stageDuration,
  supplierScorecard,
  timesheetCycle,
  timesheetStateWeekly,
  workerWeek,
  workingTimeWeekly,
  accrualMonthEnd,
  headcountWeekly,
  overtimeUplift,
  purchaseOrderBurn,
  requisitionFunnel,
  unbilledAccrual,
  workersOverHours,
  timeToFill,
  timeToFillDetail,
  workforceFlow,
]

/** Marts that the records of the service do not decide, and what tries them instead. */
export const notAudited: Readonly<Record<string, string>> = {
  crosscheck: 'shows the last comparison with the metrics of the service: test/crosscheck',
  data_health: 'tells of runs and readings: test/marts/spend-by-hand.test.ts',
  dim_date: 'is the calendar: test/marts/stand-alone.test.ts',
  request_budget: 'tells what the service last said of each key: test/marts/stand-alone.test.ts',
  status_change_daily:
    'counts states that readings saw one after the other: test/marts/status-changes.test.ts',
}
