/** Money: what was worked but not invoiced, what is owed, and what is left of purchase orders. */
import { count, type DashboardPage, date, money, type Panel, share, text } from '../panel.ts'

const unbilled: Panel = {
  id: 'not-invoiced',
  title: 'Worked and not invoiced, by age',
  about:
    'Charge of timesheets, approved or not, and approved claims that no invoice bills to the company yet, by days since the week ended.',
  mart: 'unbilled_accrual',
  date: 'week_ending_date',
  standsNow: true,
  sql: `select age_band,
  sum(accrued_value) as value,
  sum(case when accrual_state = 'approved' then accrued_value else 0 end) as approved,
  count(*) as records,
  max(age_days) as oldest_days
from mart.unbilled_accrual
where {where}
group by age_band
order by min(age_days)`,
  show: {
    kind: 'bars',
    label: 'age_band',
    inOrder: true,
    figures: [
      money('value', 'Not invoiced'),
      money('approved', 'Of it approved timesheets'),
      count('records', 'Records'),
    ],
  },
  drill: { by: ['age_band'], order: 'age_days desc, accrued_value desc nulls last' },
  empty: 'Everything that was worked is invoiced.',
}

const unbilledBy: Panel = {
  id: 'not-invoiced-by-agency',
  title: 'Worked and not invoiced, by agency',
  about: 'The agency that still has to bill, or whose work the provider still has to bill.',
  mart: 'unbilled_accrual',
  date: 'week_ending_date',
  standsNow: true,
  sql: `select agency_id,
  max(agency_name) as agency_name,
  sum(accrued_value) as value,
  count(*) as records
from mart.unbilled_accrual
where {where}
group by agency_id
order by value desc nulls last, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [money('value', 'Not invoiced'), count('records', 'Records')],
  },
  drill: { by: ['agency_id'], order: 'age_days desc, accrued_value desc nulls last' },
  empty: 'Everything that was worked is invoiced.',
}

const ledger: Panel = {
  id: 'outstanding',
  title: 'Outstanding, by days overdue',
  about:
    'Open invoices after deductions; credit notes are negative. Not known: the service shows no payments.',
  mart: 'invoice_ledger',
  date: 'week_ending_date',
  standsNow: true,
  sql: `select due_bucket,
  sum(coalesce(outstanding_value, final_value)) as outstanding,
  count(*) as documents
from mart.invoice_ledger
where {where} and coalesce(is_outstanding, true)
group by due_bucket
order by max(coalesce(days_overdue, -1)), due_bucket`,
  show: {
    kind: 'bars',
    label: 'due_bucket',
    inOrder: true,
    figures: [money('outstanding', 'Outstanding'), count('documents', 'Documents')],
  },
  drill: { by: ['due_bucket'], order: 'days_overdue desc nulls last, outstanding_value desc' },
  empty: 'Nothing is outstanding.',
}

const ledgerByWeek: Panel = {
  id: 'invoiced-by-week',
  title: 'Invoiced and credited, by week',
  about: 'After deductions, by the week that the document covers. Hatched: its timesheets are not settled.',
  mart: 'invoice_ledger',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  bool_and(is_settled_week) as is_settled_week,
  sum(case when document_type = 'invoice' then final_value else 0 end) as invoiced,
  -sum(case when document_type = 'credit_note' then final_value else 0 end) as credited,
  sum(case when document_type = 'invoice' then credit_notes_gap_value else 0 end) as credit_notes_not_found
from mart.invoice_ledger
where {where} and week_ending_date is not null
group by week_ending_date
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    settled: 'is_settled_week',
    figures: [
      money('invoiced', 'Invoiced'),
      money('credited', 'Credited'),
      money('credit_notes_not_found', 'Credit notes not found yet'),
    ],
  },
  drill: { by: ['week_ending_date'], order: 'final_value desc nulls last' },
  empty: 'No invoices here.',
  isWide: true,
}

const creditNotes: Panel = {
  id: 'credit-notes',
  title: 'Credit notes',
  about: 'Largest first. Credit notes without a webhook are missing: invoices show only their sum.',
  mart: 'invoice_ledger',
  date: 'week_ending_date',
  sql: `select document_key,
  reference,
  agency_name,
  status,
  week_ending_date,
  -final_value as credited
from mart.invoice_ledger
where {where} and document_type = 'credit_note'
order by final_value, document_key
limit 100`,
  show: {
    kind: 'table',
    figures: [
      text('reference', 'Credit note'),
      text('agency_name', 'Agency'),
      text('status', 'State'),
      date('week_ending_date', 'Week ending'),
      money('credited', 'Credited'),
    ],
  },
  drill: { by: ['document_key'], order: 'document_key' },
  empty: 'No credit notes were found. Run muster serve to receive them by webhook.',
  isWide: true,
}

const creditRate: Panel = {
  id: 'credit-note-rate',
  title: 'Credited, of what was invoiced, by agency',
  about:
    'Credit notes as the invoices give them, also those not found yet, over the invoices on the same basis. In the view of the supplier, each agency has its own.',
  mart: 'invoice_ledger',
  date: 'week_ending_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  cast(sum(credit_notes_value) as double precision) / nullif(cast(sum(creditable_value) as double precision), 0) as credited_share,
  sum(credit_notes_value) as credited,
  count(case when credit_notes_value > 0 then 1 end) as invoices_credited,
  count(*) as invoices
from mart.invoice_ledger
where {where} and document_type = 'invoice'
group by agency_id
order by credited_share desc nulls last, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [
      share('credited_share', 'Credited, of invoiced'),
      money('credited', 'Credited'),
      count('invoices_credited', 'Invoices credited'),
      count('invoices', 'Invoices'),
    ],
  },
  drill: { by: ['agency_id'], order: 'credit_notes_value desc nulls last, document_key' },
  empty: 'No invoices here.',
}

const deductions: Panel = {
  id: 'cis-by-tax-month',
  title: 'CIS deducted, by agency and tax month',
  about:
    'By the UK tax month, from the 6th, of the payment, else of the confirmation. Unpaid invoices are left out; an indicator, not the return. In the view of the supplier, each agency has its own.',
  mart: 'invoice_ledger',
  date: 'cis_tax_month_start_date',
  sql: `select cis_tax_month_start_date,
  agency_id,
  max(agency_name) as agency_name,
  sum(cis_value) as deducted,
  sum(subtotal_value) as invoiced,
  count(*) as documents
from mart.invoice_ledger
where {where} and cis_value <> 0 and cis_tax_month_start_date is not null
group by cis_tax_month_start_date, agency_id
order by cis_tax_month_start_date desc, deducted desc, agency_id
limit 200`,
  show: {
    kind: 'table',
    figures: [
      date('cis_tax_month_start_date', 'Tax month from'),
      text('agency_name', 'Agency'),
      money('deducted', 'Deducted'),
      money('invoiced', 'Invoiced before VAT'),
      count('documents', 'Documents'),
    ],
  },
  drill: { by: ['cis_tax_month_start_date', 'agency_id'], order: 'cis_value desc, document_key' },
  empty: 'No deduction was paid here.',
  isWide: true,
}

const orders: Panel = {
  id: 'purchase-orders',
  title: 'Purchase orders',
  about: 'Least left first; the last day is projected from the last eight weeks.',
  mart: 'purchase_order_burn',
  sql: `select purchase_order_reference_key,
  reference,
  company_name,
  order_value,
  spent_value,
  remaining_share,
  projected_exhaustion_date,
  end_date
from mart.purchase_order_burn
where {where}
order by remaining_share nulls last, spent_value desc
limit 100`,
  show: {
    kind: 'table',
    figures: [
      text('reference', 'Order'),
      text('company_name', 'Company'),
      money('order_value', 'Value'),
      money('spent_value', 'Spent'),
      share('remaining_share', 'Left'),
      date('projected_exhaustion_date', 'Spent by'),
      date('end_date', 'Ends'),
    ],
  },
  drill: { by: ['purchase_order_reference_key'], order: 'purchase_order_reference_key' },
  empty: 'No purchase orders are known here.',
  isWide: true,
}

export const moneyPage: DashboardPage = {
  id: 'money',
  title: 'Money',
  question: 'What is worked but not invoiced, and what is owed?',
  panels: [unbilled, ledger, unbilledBy, creditRate, ledgerByWeek, orders, creditNotes, deductions],
}
