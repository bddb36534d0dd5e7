import type { Planted } from '../../planting.ts'
import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import { tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, dayOf, daysFrom, elapsedDays, groupBy, idOf, quantile, ratio, sum } from '../words.ts'

/** An agency's acceptance of an approved requisition. */
interface Acceptance {
  readonly requisition: Raw
  readonly offer: Raw
  readonly days: number
  readonly toSubmit: number | null
  readonly submitToAccept: number | null
  readonly toStart: number | null
  readonly toLastSeat: number | null
}

const earliest = (instants: readonly (string | null | undefined)[]): string | undefined =>
  instants.filter((at): at is string => Boolean(at)).sort()[0]

function acceptancesOf({ live, today }: Service): Acceptance[] {
  const byRequisition = groupBy(live.assignments, ({ requisition }) => requisition?.id ?? 'none')
  return live.requisitions.flatMap(requisition =>
    requisition.agencies.flatMap((offer: Raw): Acceptance[] => {
      const { approvedDate, quantity, id } = requisition
      if (!approvedDate || !offer.dateAccepted) return []
      const own = byRequisition.get(id) ?? []
      const submitted = earliest(offer.submissions.map((one: Raw) => one.submittedAt))
      const started = earliest(
        own
          .filter(one => tookPlace(one) && idOf(one.agency) === offer.id)
          .map(({ startDate }) => dayOf(startDate))
          .filter(day => day !== null && day <= today),
      )
      const seats = own.filter(({ status }) => status !== 'cancelled').map(({ createdAt }) => createdAt)
      const last = quantity > 0 ? seats.sort()[Math.ceil(quantity) - 1] : undefined
      return [
        {
          requisition,
          offer,
          days: elapsedDays(approvedDate, offer.dateAccepted),
          toSubmit: submitted ? elapsedDays(approvedDate, submitted) : null,
          submitToAccept: submitted ? elapsedDays(submitted, offer.dateAccepted) : null,
          toStart: started ? daysFrom(dayOf(approvedDate) as string, started) : null,
          toLastSeat: last ? elapsedDays(approvedDate, last) : null,
        },
      ]
    }),
  )
}

/** The metric counts months and weeks in UTC. */
const monthOf = ({ offer }: Acceptance): string => offer.dateAccepted.slice(0, 7)
const weekOf = ({ offer }: Acceptance): string => {
  const day = offer.dateAccepted.slice(0, 10)
  return addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7))
}
const companyOf = ({ requisition }: Acceptance): string => idOf(requisition.company)
const projectOf = ({ requisition }: Acceptance): string => idOf(requisition.project)
const agencyOf = ({ offer }: Acceptance): string => idOf(offer)

type Key = (one: Acceptance) => string
const keys: Readonly<Record<string, Key>> = {
  company: companyOf,
  project: projectOf,
  agency: agencyOf,
  month: monthOf,
  week: weekOf,
}

const groupings = [
  ...['all', 'company', 'project', 'agency', 'month', 'week'],
  ...['company,month', 'project,month', 'agency,month'],
]

function boundsOf(days: readonly number[]): readonly [lower: number, upper: number] {
  const [q1, q3] = [quantile(days, 0.25) as number, quantile(days, 0.75) as number]
  return [q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)]
}

const isKept = (days: number, [lower, upper]: readonly [number, number]): boolean =>
  days >= lower && days <= upper

const told = (values: readonly (number | null)[]): number[] => values.filter(value => value !== null)

const companion = (name: string, values: readonly (number | null)[]): Expected => {
  const days = told(values)
  const total = sum(days, one => one)
  return {
    [`${name}_count`]: days.length,
    [`${name}_days`]: days.length === 0 ? null : total,
    [`${name}_average_days`]: ratio(total, days.length),
    [`${name}_median_days`]: quantile(days, 0.5),
  }
}

function keyColumns(parts: readonly string[], key: string): Expected {
  const values = key.split('|')
  const of = (name: string): string | null => values[parts.indexOf(name)] ?? null
  const month = of('month')
  return {
    company_id: of('company'),
    project_id: of('project'),
    agency_id: of('agency'),
    month_start_date: month === null ? null : `${month}-01`,
    week_start_date: of('week'),
  }
}

export const planted: readonly Planted[] = [
  {
    check: 'mart_time_to_fill_companies',
    subject: 'mart.time_to_fill',
    statements: ['update mart.time_to_fill set left_out_count = -1'],
  },
]

/** No crosscheck has compared anything in this world. */
const unanswered: Expected = {
  ...{ api_raw_count: null, api_excluded_outliers: null, api_within_bounds_count: null },
  ...{ api_lower_bound: null, api_upper_bound: null, api_average_days: null, api_median_days: null },
  ...{ api_min_days: null, api_max_days: null, api_p25_days: null, api_p75_days: null },
  average_days_difference: null,
}

/** Nothing is calibrated in this world: the rule leaves no company out. */
const ofAllCompanies = (kept: readonly number[]): Expected => ({
  left_out_count: 0,
  all_companies_count: kept.length,
  all_companies_days: sum(kept, one => one),
  all_companies_average_days: ratio(
    sum(kept, one => one),
    kept.length,
  ),
  all_companies_median_days: quantile(kept, 0.5),
})

export const timeToFill: Audit = {
  mart: 'time_to_fill',
  rows: service => {
    const all = acceptancesOf(service)
    return groupings.flatMap(grouping => {
      const parts = grouping === 'all' ? [] : grouping.split(',')
      const groups = groupBy(all, one => parts.map(part => (keys[part] as Key)(one)).join('|'))
      return [...groups].map(([key, own]): Expected => {
        const days = own.map(one => one.days)
        const bounds = boundsOf(days)
        const kept = days.filter(one => isKept(one, bounds))
        return {
          group_by: grouping,
          group_key: key,
          ...keyColumns(parts, key),
          raw_count: days.length,
          ...ofAllCompanies(kept),
          excluded_outliers: days.length - kept.length,
          within_bounds_count: kept.length,
          within_bounds_days: sum(kept, one => one),
          lower_bound: bounds[0],
          upper_bound: bounds[1],
          average_days: ratio(
            sum(kept, one => one),
            kept.length,
          ),
          median_days: quantile(kept, 0.5),
          min_days: Math.min(...kept),
          max_days: Math.max(...kept),
          p25_days: quantile(kept, 0.25),
          p75_days: quantile(kept, 0.75),
          ...unanswered,
          match_status: 'not checked',
          metric_definition_id: 'default',
          accepted_without_worker: own.filter(({ offer }) => offer.assigned === 0).length,
          ...companion(
            'time_to_submit',
            own.map(one => one.toSubmit),
          ),
          ...companion(
            'submit_to_accept',
            own.map(one => one.submitToAccept),
          ),
          ...companion(
            'time_to_start',
            own.map(one => one.toStart),
          ),
          ...companion(
            'time_to_last_seat',
            own.map(one => one.toLastSeat),
          ),
        }
      })
    })
  },
}

export const timeToFillDetail: Audit = {
  mart: 'time_to_fill_detail',
  rows: service => {
    const all = acceptancesOf(service)
    const bounds = new Map(
      groupings
        .filter(grouping => !grouping.includes(','))
        .flatMap(grouping =>
          [...groupBy(all, one => keys[grouping]?.(one) ?? '')].map(
            ([key, own]) => [`${grouping} ${key}`, boundsOf(own.map(({ days }) => days))] as const,
          ),
        ),
    )
    const ofTrades = new Map(
      [...groupBy(all, ({ requisition }) => idOf(requisition.trade))].map(
        ([trade, own]) => [trade, boundsOf(own.map(({ days }) => days))] as const,
      ),
    )
    return all.map((one): Expected => {
      const ofTrade = ofTrades.get(idOf(one.requisition.trade)) as readonly [number, number]
      const isOutlier = (grouping: string): boolean => {
        const own = bounds.get(`${grouping} ${keys[grouping]?.(one) ?? ''}`) as readonly [number, number]
        return !isKept(one.days, own)
      }
      return {
        requisition_id: one.requisition.id,
        agency_id: agencyOf(one),
        reference: one.requisition.reference,
        company_id: companyOf(one),
        project_id: projectOf(one),
        trade_id: idOf(one.requisition.trade),
        approved_at: one.requisition.approvedDate,
        accepted_at: one.offer.dateAccepted,
        approved_to_accepted_days: one.days,
        is_counted: true,
        is_outlier_all: isOutlier('all'),
        is_outlier_company: isOutlier('company'),
        is_outlier_project: isOutlier('project'),
        is_outlier_agency: isOutlier('agency'),
        is_outlier_month: isOutlier('month'),
        is_outlier_week: isOutlier('week'),
        is_outlier_trade: !isKept(one.days, ofTrade),
        // The world's recruitment metrics are not read, of which the service's own days are made.
        created_to_offer_days: null,
        assigned_workers: one.offer.assigned,
        time_to_submit_days: one.toSubmit,
        submit_to_accept_days: one.submitToAccept,
        time_to_start_days: one.toStart,
        time_to_last_seat_days: one.toLastSeat,
      }
    })
  },
}
