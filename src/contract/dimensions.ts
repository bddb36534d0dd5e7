/** Declares dimensions without an endpoint: all of their members are inferred from the records that name them. */
import { type Column, flag, integer, personal, text } from './fields/column.ts'
import { nounOf } from './fields/nouns.ts'
import { dimension, ofOrganisations, ofPeople, type Table } from './fields/table.ts'

/** Attributes come from `ref(...)`; those of the newest record that names the member win. */
function reference(name: string, description: string, attributes: Record<string, Column>): Table {
  return dimension(name, description, {
    [`${name}_id`]: text('', `Id of the ${nounOf(name)}, as the service gives it.`),
    ...attributes,
  })
}

const name = text('', 'Name, from the newest record that refers to it.')

export const referenceDimensions: readonly Table[] = [
  ofPeople(
    reference('worker', 'One row per worker that any record names; the name itself is in pii.worker.', {
      worker_reference: text('', "The worker's reference."),
      name: personal(text('', "The worker's name.")),
    }),
  ),
  ofOrganisations(reference('agency', 'One row per labour agency (supplier).', { name })),
  reference('region', 'One row per region.', { name }),
  reference('sector', 'One row per sector.', { name }),
  ofOrganisations(reference('msp', 'One row per managed service provider.', { name })),
  reference('master_trade', 'One row per master trade, which trades of companies belong to.', { name }),
  reference('tag', 'One row per tag; trades, assignments and purchase orders are assumed to share tags.', {
    name,
    description: text('', 'What it stands for.'),
    is_seen_on_trade: flag('', 'Whether a trade carries it.'),
    is_seen_on_assignment: flag('', 'Whether an assignment carries it.'),
    is_seen_on_purchase_order: flag('', 'Whether a purchase order carries it.'),
  }),
  reference('activity', 'One row per activity that requisitions are for.', { name }),
  ofPeople(
    reference(
      'contact',
      'One row per person given by name and e-mail address only; both are in pii.contact.',
      {
        name: personal(text('', 'Name, from the newest record.')),
        email: personal(text('', 'E-mail address.')),
      },
    ),
  ),
  reference('umbrella', 'One row per umbrella company, by its name within a hiring company.', {
    name,
    company_id: text('', 'Company that uses it.'),
  }),
  reference('work_activity', 'One row per work activity, by its name within a hiring company.', {
    name,
    company_id: text('', 'Company that uses it.'),
  }),
  reference('meta_field', 'One row per custom field that companies add to assignments.', {
    title: text('', 'Title.'),
    type: text('', 'Kind of value.'),
  }),
  reference('afp', 'One row per application for payment.', { reference: text('', 'Reference.') }),
  reference(
    'role',
    'One row per role: the base roles of the contract and the role identifiers of access rules.',
    {
      label: text('', 'Name, as displayed.'),
      is_base_role: flag('', 'Whether the contract lists it as a filter value of users.'),
    },
  ),
  reference('permission', 'One row per project permission.', {
    name,
    category: text('', 'Category that the permission belongs to.'),
  }),
  reference('qualification', 'One row per qualification name in competency requirements.', {
    name,
  }),
  reference('cost_code', 'One row per cost code: a name and description within a company.', {
    name: text('', 'Name of the cost code.'),
    description: text('', 'What it stands for.'),
    company_id: text('', 'Company that uses it.'),
  }),
  reference('piece_rate', 'One row per piece rate.', {
    code: text('', 'Code.'),
    name,
    unit_label: text('', 'One unit, in words.'),
    unit_label_plural: text('', 'Several units, in words.'),
    frequency: text('', 'How often it is paid.'),
  }),
  reference('submission_question', 'One row per question asked at submission.', {
    label: text('', 'Question that was asked.'),
    field_type: text('', 'Kind of answer.'),
    answer_scope: text('', 'submission: asked once; worker: asked of each worker.'),
  }),
  reference('recruitment_stage', 'One row per recruitment stage.', {
    label: text('', 'Name, as displayed.'),
    ordinal: integer('', 'Order of the stages.'),
  }),
]
