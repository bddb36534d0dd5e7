/** Suppliers: what each agency fills, how fast it answers, and what it costs against its card. */
import { count, type DashboardPage, days, money, type Panel, share, text } from '../panel.ts'

const empty = 'No agency was asked for workers here. Widen the filters.'

const ratio = (numerator: string, denominator: string): string =>
  `cast(sum(${numerator}) as double precision) / nullif(cast(sum(${denominator}) as double precision), 0)`

const scorecard: Panel = {
  id: 'scorecard',
  title: 'Scorecard',
  about:
    'Charge: of approved timesheets, without expenses. Ratios are of sums, so large months weigh more. Empty: the denominator is zero.',
  mart: 'supplier_scorecard',
  date: 'month_start_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  sum(spend) as spend,
  ${ratio('accepted', 'received')} as response,
  ${ratio('filled', 'offered')} as fill,
  ${ratio('interviewed', 'tracked')} as interviews,
  ${ratio('ended_early', 'finished')} as early_ends,
  ${ratio('timesheets_on_time', 'timesheets_timed')} as on_time,
  ${ratio('carded_charge', 'card_charge')} as charge_to_card
from mart.supplier_scorecard
where {where}
group by agency_id
order by spend desc nulls last, agency_id
limit 200`,
  show: {
    kind: 'table',
    figures: [
      text('agency_name', 'Agency'),
      money('spend', 'Charge'),
      share('response', 'Accepted'),
      share('fill', 'Seats filled'),
      share('interviews', 'Interviewed'),
      share('early_ends', 'Ended before the plan'),
      share('on_time', 'Sheets on time'),
      share('charge_to_card', 'Charge of card'),
    ],
  },
  drill: { by: ['agency_id'], order: 'month_start_date desc' },
  empty,
  isWide: true,
}

const seats: Panel = {
  id: 'seats-by-agency',
  title: 'Workers asked for and assigned, by agency',
  about: 'Seats of requisitions that the agency was asked to fill.',
  mart: 'supplier_scorecard',
  date: 'month_start_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  cast(sum(filled) as bigint) as filled,
  cast(sum(offered) as bigint) as offered
from mart.supplier_scorecard
where {where}
group by agency_id
order by offered desc, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [count('offered', 'Workers asked for'), count('filled', 'Workers assigned')],
  },
  drill: { by: ['agency_id'], order: 'month_start_date desc' },
  empty,
}

const stages: Panel = {
  id: 'stage-days',
  title: 'Days at each stage',
  about: 'Average over the workers who moved on, in the order of the stages.',
  mart: 'stage_duration',
  date: 'month_start_date',
  sql: `select stage,
  max(stage_label) as stage_label,
  cast(sum(total_days) as double precision) / nullif(cast(sum(measured_exits) as double precision), 0) as average_days,
  cast(sum(entries) as bigint) as entries,
  cast(sum(open_now) as bigint) as there_now
from mart.stage_duration
where {where}
group by stage
order by min(stage_ordinal)`,
  show: {
    kind: 'bars',
    label: 'stage_label',
    inOrder: true,
    figures: [
      days('average_days', 'Average days'),
      count('entries', 'Entered'),
      count('there_now', 'There now'),
    ],
  },
  drill: { by: ['stage'], order: 'month_start_date desc, entries desc' },
  empty: 'No tracked candidates here.',
}

export const suppliers: DashboardPage = {
  id: 'suppliers',
  title: 'Suppliers',
  question: 'Which agencies deliver?',
  panels: [scorecard, seats, stages],
}
