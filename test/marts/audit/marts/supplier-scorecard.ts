import type { Service } from '../audited.ts'
import { cardsOf } from '../cards.ts'
import type { Audit, Expected } from '../compare.ts'
import { lastDayOf, tookPlace } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, elapsedHours, idOf, isWorked, monthOf, quantile, ratio, sum } from '../words.ts'
import { isOnTime } from './timesheet-cycle.ts'

/** Everything of an agency, a company and a month. */
interface Month {
  readonly offers: { readonly requisition: Raw; readonly offer: Raw; readonly tracked: readonly Raw[] }[]
  readonly started: Raw[]
  readonly finished: Raw[]
  readonly timesheets: Raw[]
}

const road = ['interviewed', 'offerMade', 'offerAccepted', 'offerRejected', 'assigned', 'missingCompliance']

/** Stages that the worker reached, the current one included; a later one implies those before it. */
const reached = ({ stage, history }: Raw, from: string): boolean => {
  const wanted = road.slice(road.indexOf(from))
  return [stage, ...history.map((step: Raw) => step.stage)].some(name => wanted.includes(name))
}

class Months {
  readonly #months = new Map<string, Month>()

  at(agency: Raw, company: Raw, day: string): Month {
    const key = `${idOf(agency)} ${idOf(company)} ${monthOf(day)}`
    const known = this.#months.get(key) ?? { offers: [], started: [], finished: [], timesheets: [] }
    this.#months.set(key, known)
    return known
  }

  entries(): [string, Month][] {
    return [...this.#months]
  }
}

function monthsOf({ live, today }: Service): Months {
  const months = new Months()
  for (const requisition of live.requisitions)
    for (const offer of requisition.agencies) {
      // Answered without a date of receipt: by the month of the answer.
      const day = dayOf(offer.dateReceived ?? offer.dateAccepted)
      if (!day) continue
      const tracked = (requisition.stageTracking ?? []).filter(({ agency }: Raw) => idOf(agency) === offer.id)
      months.at(offer, requisition.company, day).offers.push({ requisition, offer, tracked })
    }
  for (const assignment of live.assignments) {
    const { status, agency, company } = assignment
    const start = dayOf(assignment.startDate)
    if (start && start <= today && tookPlace(assignment))
      months.at(agency, company, start).started.push(assignment)
    const last = lastDayOf(assignment)
    if (last && ['completed', 'ended'].includes(status))
      months.at(agency, company, last).finished.push(assignment)
  }
  for (const sheet of live.timesheets) {
    const week = dayOf(sheet.weekEnding)
    if (week && !['absent', 'cancelled'].includes(sheet.status))
      months.at(sheet.agency, sheet.company, week).timesheets.push(sheet)
  }
  return months
}

const isEarly = (assignment: Raw): boolean =>
  (lastDayOf(assignment) as string) < (dayOf(assignment.endDate) ?? '')

export const supplierScorecard: Audit = {
  mart: 'supplier_scorecard',
  rows: service => {
    const assignments = byId(service.live.assignments)
    const cardOf = cardsOf(service)
    return monthsOf(service)
      .entries()
      .map(([key, { offers, started, finished, timesheets }]): Expected => {
        const [agency = '', company = '', month = ''] = key.split(' ')
        const accepted = offers.filter(({ offer }) => offer.dateAccepted)
        const hours = accepted.flatMap(({ offer: { dateReceived, dateAccepted } }) =>
          dateReceived ? elapsedHours(dateReceived, dateAccepted) : [],
        )
        const offered = sum(offers, ({ offer }) => offer.offered)
        const filled = sum(offers, ({ offer }) => offer.assigned)
        const ofOffered = sum(offers, ({ offer }) => Math.min(offer.offered, offer.assigned))
        const seats = sum(offers, ({ requisition }) => requisition.quantity)
        const filledSeats = sum(offers, ({ requisition: { quantity, agencies } }) =>
          Math.min(
            quantity,
            sum(agencies, ({ assigned }: Raw) => assigned),
          ),
        )
        const submissions = sum(offers, ({ offer }) => offer.submissions.length)
        const tracked = offers.flatMap(one => one.tracked)
        const interviewed = tracked.filter(one => reached(one, 'interviewed')).length
        const offersMade = tracked.filter(one => reached(one, 'offerMade')).length
        const replaced = started.filter(({ replacement }) => replacement?.replacedBy?.id).length
        const early = finished.filter(isEarly).length
        const worked = timesheets.filter(isWorked)
        const timed = timesheets.map(sheet => isOnTime(sheet, service.today)).filter(one => one !== null)
        const onTime = timed.filter(one => one).length
        const carded = worked.flatMap(sheet => {
          const assignment = assignments.get(sheet.assignment?.id)
          const card = assignment?.payType === 'hourly' ? cardOf(assignment) : undefined
          const charge = sheet.rates?.wd?.charge
          return card && charge != null && (sheet.payType ?? 'hourly') === 'hourly'
            ? [{ hours: sheet.netHours, charge, card: card.set.charge }]
            : []
        })
        const cardedCharge = sum(carded, one => one.hours * one.charge)
        const cardCharge = sum(carded, one => one.hours * one.card)
        return {
          agency_id: agency,
          company_id: company,
          month_start_date: month,
          received: offers.length,
          accepted: accepted.length,
          response_ratio: ratio(accepted.length, offers.length),
          median_hours_to_accept: quantile(hours, 0.5),
          offered,
          filled,
          filled_of_offered: ofOffered,
          fill_ratio: ratio(ofOffered, offered),
          programme_seats: seats,
          programme_filled_seats: filledSeats,
          programme_fill_ratio: ratio(filledSeats, seats),
          submissions,
          submissions_per_requisition: ratio(submissions, offers.length),
          tracked: tracked.length,
          interviewed,
          offers_made: offersMade,
          interview_ratio: ratio(interviewed, tracked.length),
          offer_ratio: ratio(offersMade, interviewed),
          started: started.length,
          replaced,
          replacement_ratio: ratio(replaced, started.length),
          finished: finished.length,
          ended_early: early,
          early_end_ratio: ratio(early, finished.length),
          timesheets: timesheets.length,
          timesheets_timed: timed.length,
          timesheets_on_time: onTime,
          on_time_ratio: ratio(onTime, timed.length),
          net_hours: sum(worked, ({ netHours }) => netHours),
          spend: sum(worked, ({ values }) => values.charge.total),
          carded_hours: sum(carded, one => one.hours),
          carded_charge: cardedCharge,
          card_charge: cardCharge,
          charge_to_card_ratio: ratio(cardedCharge, cardCharge),
        }
      })
  },
}
