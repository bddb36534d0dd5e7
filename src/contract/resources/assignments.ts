/** Assignments: a worker of an agency placed on a site, with rates and hours. */

import {
  dayOf,
  derived,
  flag,
  id,
  idOf,
  integer,
  json,
  money,
  named,
  number,
  ofRoot,
  oneOf,
  ref,
  related,
  text,
  timestamp,
  volatile,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, costCode, namedInCompany, purchaseOrder, tag } from '../fields/shared-columns.ts'
import { each, eachLeaf, fact } from '../fields/table.ts'
import { submissionAnswers } from './answers.ts'
import { ended, lodge, papers, replacementColumns, shifts } from './assignment-columns.ts'
import { activities, documents, links, metaValues, uplifts } from './assignment-lists.ts'
import { competencyRules } from './competency-rules.ts'

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
  start_date: dayOf('start_at', 'First day.'),
  end_at: timestamp('endDate', 'End.'),
  end_date: dayOf('end_at', 'Last day.'),
  timesheet_start_at: timestamp('timesheetStartDate', 'From when timesheets are kept.'),
  timesheet_start_date: dayOf('timesheet_start_at', 'First day of timesheets.'),
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
