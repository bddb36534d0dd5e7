/**
 * Assignments: a worker of an agency placed on a site, with rates and hours. First the lists inside one, from uplifts to custom
 * fields; then columns of its nested objects: shifts, statements, its end, and lodging.
 */
import {
  bookkeeping,
  type Column,
  dayOf,
  dayWrittenIn,
  derived,
  fileUrl,
  flag,
  freeText,
  id,
  idOf,
  integer,
  json,
  keyOf,
  money,
  named,
  number,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  personal,
  quantity,
  ref,
  related,
  restricted,
  text,
  timestamp,
  untyped,
  volatile,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import {
  changeTimes,
  costCode,
  type FieldColumns,
  type FigureColumns,
  namedInCompany,
  purchaseOrder,
  tag,
} from '../fields/shared-columns.ts'
import { bridge, each, eachLeaf, eachValue, fact, only } from '../fields/table.ts'
import { submissionAnswers } from './answers.ts'
import { competencyRules } from './competency-rules.ts'

/** The contract documents seven keys; any other key becomes a row too. */
const uplifts = fact('assignment_uplift', 'One row per uplift of an assignment.', {
  assignment_uplift_key: keyOf('assignment_id', 'uplift_key'),
  assignment_id: ofRoot('assignment_id'),
  uplift_key: text('path', 'Key as the service spells it; see star.dim_hour_type.uplift_key.'),
  value_text: text('value', 'Uplift as text.'),
  uplift: derived('number', 'try_cast(value_text as decimal(18, 8))', 'Factor.'),
})

const activities = fact('assignment_activity', 'One row per entry in the log of an assignment.', {
  assignment_activity_key: keyOf('assignment_id', 'activity_ordinal'),
  assignment_id: ofRoot('assignment_id'),
  activity_ordinal: ordinal(),
  created_at: timestamp('created', 'When it happened.'),
  activity_type: text('activityType', 'What happened, as the service writes it.'),
  user_id: ref('userId', 'user', { name: 'user' }),
  user_name: personal(text('user', 'Name of who did it.')),
  subject_id: text('entity.id', 'Id of what it concerns.'),
  subject_name: personal(text('entity.name', 'Name of what it concerns, which may be a person.')),
  reason: freeText('reason', 'Reason.'),
  comments: freeText('comments', 'Comments.'),
  message: freeText('message', 'Message.'),
})

interface AssignmentLink {
  readonly kind: 'replaced_by' | 'replacement_for' | 'replacement_requisition' | 'clone_original'
  readonly to: 'assignment' | 'requisition'
}

const nothing = 'cast(null as varchar)'

function link<const At extends string>(path: At, { kind, to }: AssignmentLink) {
  const isReplacement = kind !== 'clone_original'
  const ofReplacement = (column: string, description: string): Column =>
    isReplacement ? { ...ofRoot(column), description } : derived('text', nothing, description)
  return only(
    path,
    bridge('assignment_link', 'One row per assignment, kind of link and what it is linked to.', {
      assignment_link_key: keyOf('assignment_id', 'kind'),
      assignment_id: ofRoot('assignment_id'),
      kind: derived(
        'text',
        `'${kind}'`,
        'replaced_by, replacement_for, replacement_requisition or clone_original.',
      ),
      linked_entity: derived('text', `'${to}'`, 'assignment or requisition.'),
      linked_id: related(
        idOf(`${to}s`, text('id', 'Id of what it is linked to.'), `linked_entity = '${to}'`),
        {
          of: `${to}s`,
          share: 0.2,
          because: 'a replacement ends the assignment of the worker it replaces',
        },
      ),
      linked_reference: text('reference', 'Reference of what it is linked to.'),
      linked_nanoid:
        to === 'requisition'
          ? text('nanoid', 'Short id of a requisition it is linked to.')
          : derived('text', nothing, 'Short id of a requisition it is linked to.'),
      type: ofReplacement('replacement_type', 'Kind of replacement.'),
      reason: {
        ...ofReplacement('replacement_reason', 'Why the worker replaces or was replaced.'),
        privacy: 'freeText',
      } satisfies Column,
    }),
  )
}

const links = {
  replaced_by: link('replacement.replacedBy', { kind: 'replaced_by', to: 'assignment' }),
  replacement_for: link('replacement.replacementFor', { kind: 'replacement_for', to: 'assignment' }),
  replacement_requisition: link('replacement.requisition', {
    kind: 'replacement_requisition',
    to: 'requisition',
  }),
  clone_original: link('clone.original', { kind: 'clone_original', to: 'assignment' }),
}

const documents = fact('assignment_document', 'One row per custom document of an assignment.', {
  assignment_document_key: keyOf('assignment_id', 'document_ordinal'),
  assignment_id: ofRoot('assignment_id'),
  document_ordinal: ordinal(),
  document_id: text('id', 'Id of the document.'),
  name: text('name', 'Name.'),
  description: freeText('description', 'Description.'),
  is_required: flag('required', 'Whether it is required.'),
  can_company_upload: flag('uploadPermissions.company', 'Whether the company may upload it.'),
  can_supplier_upload: flag('uploadPermissions.supplier', 'Whether the agency may upload it.'),
  file_url: fileUrl('attachment', 'Address of the file, without its query string.'),
  has_attachment: derived('boolean', 'file_url is not null', 'Whether there is a file.'),
  uploaded_by: personal(json('uploadedBy', 'Who uploaded it; the contract does not show its shape.')),
  uploaded_at: timestamp('uploadedAt', 'When it was uploaded.'),
  expires_at: timestamp('expiry', 'When it expires.'),
})

const displays = bridge('assignment_meta_display', 'One row per place where a custom field is displayed.', {
  assignment_meta_display_key: keyOf('assignment_meta_value_key', 'display_ordinal'),
  assignment_meta_value_key: ofParent('assignment_meta_value_key'),
  assignment_id: ofRoot('assignment_id'),
  display_ordinal: ordinal(),
  display: text('', 'Where it is displayed.'),
})

/** A custom field may hold any text, so its value stays out of star in every form. */
const metaValues = fact('assignment_meta_value', 'One row per custom field of an assignment.', {
  assignment_meta_value_key: keyOf('assignment_id', 'field_ordinal'),
  assignment_id: ofRoot('assignment_id'),
  field_ordinal: ordinal(),
  meta_field_id: ref('id', 'meta_field', { title: 'title', type: 'type' }),
  value_text: untyped(freeText('value', 'Value; a list as JSON.')),
  value_number: restricted(
    derived('number', 'try_cast(value_text as decimal(18, 8))', 'Value, when it is a number.'),
  ),
  value_date: restricted(
    derived('day', 'cast(try_cast(value_text as timestamptz) as date)', 'Value, when it is a day or a time.'),
  ),
  displays: eachValue('display', displays),
})

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

/** Seven days: columns here, rows in star.fact_assignment_shift. */
type ShiftAt = `shiftPattern.${keyof typeof weekdays}`

const shifts = Object.fromEntries(
  Object.entries(weekdays).flatMap(shiftOf),
) as FigureColumns<`${ShiftAt}.${'start' | 'end' | 'break'}`> &
  FieldColumns<`${ShiftAt}.${'active' | 'night'}`, boolean>

const ended = {
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
    'Whether there is a cancellation.',
  ),
}

/** Status determination (SDS, SDC) and the key information document (KID). */
const papers = {
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

const replacementColumns = {
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

const lodge = {
  is_lodge_applicable: flag('lodgeApplicable', 'Whether lodging applies.'),
  lodge_daily_override: money(
    'lodge.dailyAmountOverride',
    'Lodging a day, in place of the configured amount.',
  ),
  lodge_distance_miles: number(
    'lodge.distanceMiles',
    'Miles from the lodging to the site, from the lodging details.',
  ),
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

const parties = {
  company_id: named('company', 'company'),
  project_id: named('project', 'project'),
  region_id: named('region', 'region'),
  sector_id: named('sector', 'sector'),
  site_id: named('site', 'site'),
  trade_id: named('trade', 'trade'),
  tag_id: tag('tag', 'assignment'),
  agency_id: named('agency', 'agency'),
  worker_id: ref('worker.id', 'worker', { name: 'worker.name', worker_reference: 'worker.reference' }),
  requisition_id: related(idOf('requisitions', text('requisition.id', 'Id of the requisition it fills.')), {
    of: 'requisitions',
    share: 0.3,
    because: 'a requisition counts its assignments, and reopens when one of them is cancelled',
  }),
  requisition_reference: text('requisition.reference', 'Reference of that requisition.'),
  requisition_nanoid: text('requisition.nanoid', 'Short id of that requisition.'),
  ...namedInCompany('umbrella', 'umbrella', 'Umbrella company that employs the worker'),
  ...namedInCompany('workActivity', 'work_activity', 'Work that is done'),
  ...purchaseOrder('purchaseOrder'),
  ...costCode('costCode'),
}

const times = {
  start_at: timestamp('startDate', 'Start.'),
  start_date: dayWrittenIn('start_at', 'First day.'),
  end_at: timestamp('endDate', 'End.'),
  end_date: dayWrittenIn('end_at', 'Last day.'),
  timesheet_start_at: timestamp('timesheetStartDate', 'When timesheets start.'),
  timesheet_start_date: dayWrittenIn('timesheet_start_at', 'First day of timesheets.'),
  completed_at: timestamp('completedDate', 'When it was completed.'),
  completed_date: dayOf('completed_at', 'Day of completion.'),
  confirmed_at: timestamp('confirmationDate', 'When it was confirmed.'),
  confirmed_date: dayOf('confirmed_at', 'Day of confirmation.'),
  weeks_elapsed: volatile(
    integer('weeksElapsed', 'Full weeks since confirmation or start, as of the last change of this row.'),
  ),
  ...changeTimes,
}

const amounts = {
  distance_to_site_miles: number('workerDistanceToSite', 'Miles from the worker to the site.'),
  lodge_distance_to_site_miles: number(
    'workerLodgeDistanceToSite',
    'Miles from the lodging of the worker to the site.',
  ),
  pay_rate: money('rates.pay', 'Pay rate.'),
  charge_rate: money('rates.charge', 'Charge rate.'),
  pay_value: money('values.pay', 'Pay value.'),
  charge_value: money('values.charge', 'Charge value.'),
  is_markup_override_active: flag(
    'rateOverrides.markup.active',
    'Whether a markup of its own replaces the configured one.',
  ),
  markup_override_value: number('rateOverrides.markup.value', 'That markup, as the service gives it.'),
  is_employer_cost_override_active: flag(
    'rateOverrides.employerCosts.active',
    'Whether employer costs of its own replace the configured ones.',
  ),
  employer_cost_override_value: number(
    'rateOverrides.employerCosts.value',
    'Those employer costs, as the service gives them.',
  ),
  enhanced_uplifts_json: json('enhancedUplifts', 'Enhanced uplifts; the contract does not show the keys.'),
}

export const assignments = resource({
  name: 'assignments',
  entity: 'assignment',
  description:
    'Assignments with their shifts, rates, uplifts, activities, documents, requirements and answers.',
  path: '/assignments/{id}',
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  expected: `
    select t.assignment_id from star.fact_timesheet as t where not t.is_deleted and t.assignment_id is not null
    except
    select a.assignment_id from star.fact_assignment as a where a.is_deleted
    union
    select a.assignment_id from star.fact_assignment as a where not a.is_deleted`,
  table: fact('assignment', 'One row per assignment.', {
    assignment_id: id('id', 'Id of the assignment.'),
    reference: text('reference', 'Reference.'),
    status: oneOf('status', ['pending', 'confirmed', 'cancelled', 'completed', 'ended'], 'State.'),
    pay_type: oneOf('payType', ['hourly', 'daily'], 'How pay is counted.'),
    rate_type: oneOf('rateType', ['cis', 'paye', 'psc'], 'How the worker is engaged.'),
    ...parties,
    ...times,
    ...amounts,
    ...shifts,
    ...ended,
    ...papers,
    ...replacementColumns,
    ...lodge,
    uplifts: eachLeaf('rateUplifts', uplifts),
    activities: each('activities', activities),
    ...links,
    requirements: competencyRules('competencyRequirements', {
      entity: 'assignment',
      key: 'assignment_id',
      place: {
        company_id: ofRoot('company_id'),
        project_id: ofRoot('project_id'),
        trade_id: ofRoot('trade_id'),
        sector_id: ofRoot('sector_id'),
        source: derived('text', `'assignment'`, 'Always assignment: requirements of its own.'),
      },
    }),
    documents: each('customDocuments', documents),
    meta_values: each('metaFields', metaValues),
    answers: submissionAnswers('assignment', 'assignment_id'),
  }),
})
