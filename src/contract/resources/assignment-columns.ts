/** Columns of nested objects of an assignment: shifts, statements, its end, and lodging. */
import {
  bookkeeping,
  type Column,
  dayOf,
  derived,
  fileUrl,
  flag,
  freeText,
  json,
  money,
  named,
  number,
  personal,
  quantity,
  restricted,
  text,
  timestamp,
} from '../fields/column.ts'
import type { Fields, Figures } from '../fields/shared-columns.ts'

/** Keys of `shiftPattern`. */
const weekdays = {
  m: 'monday',
  t: 'tuesday',
  w: 'wednesday',
  th: 'thursday',
  f: 'friday',
  s: 'saturday',
  su: 'sunday',
} as const

const daysNamed = (day: string): string => `${day.charAt(0).toUpperCase()}${day.slice(1)}s`

/** The contract gives start, end and break no unit. */
const shiftOf = ([key, day]: [string, string]): [string, Column][] => {
  const at = `shiftPattern.${key}`
  return [
    [
      `shift_${day}_start`,
      number(`${at}.start`, `Start of the shift on ${daysNamed(day)}; the contract gives no unit.`),
    ],
    [
      `shift_${day}_end`,
      number(`${at}.end`, `End of the shift on ${daysNamed(day)}; the contract gives no unit.`),
    ],
    [`shift_${day}_break`, number(`${at}.break`, `Break on ${daysNamed(day)}; the contract gives no unit.`)],
    [`is_shift_${day}_active`, flag(`${at}.active`, `Whether ${daysNamed(day)} are worked.`)],
    [
      `is_shift_${day}_night`,
      flag(`${at}.night`, `Whether the shift on ${daysNamed(day)} is a night shift.`),
    ],
  ]
}

/** Seven days stay wide; star.fact_assignment_shift has them as rows. */
type ShiftAt = `shiftPattern.${keyof typeof weekdays}`

export const shifts = Object.fromEntries(
  Object.entries(weekdays).flatMap(shiftOf),
) as Figures<`${ShiftAt}.${'start' | 'end' | 'break'}`> & Fields<`${ShiftAt}.${'active' | 'night'}`, boolean>

export const ended = {
  ended_at: timestamp('ended.date', 'When it was ended.'),
  ended_reason: freeText('ended.reason', 'Why it was ended.'),
  ended_comments: freeText('ended.comments', 'Comments on its end.'),
  ended_by_user_id: named('ended.user', 'user'),
  reinstated_at: timestamp('reinstatement.date', 'When it was reinstated.'),
  reinstatement_reason: freeText('reinstatement.reason', 'Why it was reinstated.'),
  reinstatement_comments: freeText('reinstatement.comments', 'Comments on the reinstatement.'),
  reinstated_by_user_id: named('reinstatement.user', 'user'),
  cancellation_json: restricted(json('cancellation', 'Cancellation; the contract does not show the keys.')),
  is_cancellation_known: derived(
    'boolean',
    'cancellation_json is not null',
    'Whether it gives a cancellation.',
  ),
}

/** Status determination (SDS, SDC) and the key information document (KID). */
export const papers = {
  sds_json: restricted(json('sds', 'Status determination statement; the contract does not show the keys.')),
  has_sds: derived('boolean', 'sds_json is not null', 'Whether there is a status determination statement.'),
  sdc_status: text('sdc.status', 'State of the supervision, direction and control form.'),
  sdc_url: fileUrl('sdc.attachment', 'Address of that form, without its query string.'),
  has_sdc_file: derived('boolean', 'sdc_url is not null', 'Whether that form is there.'),
  kid_url: fileUrl('kid', 'Address of the key information document, without its query string.'),
  has_kid: derived('boolean', 'kid_url is not null', 'Whether there is a key information document.'),
  assigned_by_json: personal(
    json('assignedBy', 'Who assigned the worker; the contract does not show the keys.'),
  ),
}

export const replacementColumns = {
  replacement_reason: freeText('replacement.reason', 'Why the worker replaces or was replaced.'),
  replacement_type: text('replacement.type', 'Kind of replacement.'),
  cloned_at: timestamp('clone.date', 'When it was cloned from another assignment.'),
  clone_date: dayOf('cloned_at', 'Day of the cloning.'),
  clone_original_id: text('clone.original.id', 'Assignment it was cloned from.'),
  is_clone: derived(
    'boolean',
    'clone_original_id is not null or cloned_at is not null',
    'Whether it was cloned from another assignment.',
  ),
}

const minutes = <const By extends string>(by: By) =>
  quantity(`lodge.travel.${by}Minutes`, `Minutes from the lodging to the site by ${by}.`)

export const lodge = {
  is_lodge_applicable: flag('lodgeApplicable', 'Whether lodging applies.'),
  lodge_daily_override: money(
    'lodge.dailyAmountOverride',
    'Lodging a day, in place of the configured amount.',
  ),
  lodge_distance_miles: number('lodge.distanceMiles', 'Miles from the lodging to the site, as lodging says.'),
  lodge_address_line_one: restricted(text('lodge.address.lineOne', 'Address of the lodging, first line.')),
  lodge_city: restricted(text('lodge.address.city', 'City of the lodging.')),
  lodge_country: restricted(text('lodge.address.country', 'Country of the lodging.')),
  lodge_postcode: restricted(text('lodge.address.code', 'Postal code of the lodging.')),
  lodge_walk_minutes: { ...minutes('walk'), description: 'Minutes from the lodging to the site on foot.' },
  lodge_bus_minutes: minutes('bus'),
  lodge_car_minutes: minutes('car'),
  lodge_train_minutes: minutes('train'),
  travel_calculated_at: bookkeeping(
    timestamp('lodge.travel.calculatedAt', 'When those minutes were calculated.'),
  ),
}
