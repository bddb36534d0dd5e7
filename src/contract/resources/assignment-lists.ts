/** The lists inside an assignment: uplifts, activities, links to others, documents and custom fields. */
import {
  type Column,
  derived,
  fileUrl,
  flag,
  freeText,
  idOf,
  json,
  keyOf,
  ofParent,
  ofRoot,
  ordinal,
  personal,
  ref,
  related,
  restricted,
  text,
  timestamp,
  untyped,
} from '../fields/column.ts'
import { bridge, eachValue, fact, only } from '../fields/table.ts'

/** The contract documents seven keys; any other key becomes a row too. */
export const uplifts = fact('assignment_uplift', 'One row per uplift of an assignment.', {
  assignment_uplift_key: keyOf('assignment_id', 'uplift_key'),
  assignment_id: ofRoot('assignment_id'),
  uplift_key: text('path', 'Key as the service spells it; see star.dim_hour_type.uplift_key.'),
  value_text: text('value', 'Uplift as text.'),
  uplift: derived('number', 'try_cast(value_text as decimal(18, 8))', 'Factor.'),
})

export const activities = fact('assignment_activity', 'One row per entry in the log of an assignment.', {
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

interface Link {
  readonly kind: 'replaced_by' | 'replacement_for' | 'replacement_requisition' | 'clone_original'
  readonly to: 'assignment' | 'requisition'
}

const nothing = 'cast(null as varchar)'

function link<const At extends string>(path: At, { kind, to }: Link) {
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

export const links = {
  replaced_by: link('replacement.replacedBy', { kind: 'replaced_by', to: 'assignment' }),
  replacement_for: link('replacement.replacementFor', { kind: 'replacement_for', to: 'assignment' }),
  replacement_requisition: link('replacement.requisition', {
    kind: 'replacement_requisition',
    to: 'requisition',
  }),
  clone_original: link('clone.original', { kind: 'clone_original', to: 'assignment' }),
}

export const documents = fact('assignment_document', 'One row per custom document of an assignment.', {
  assignment_document_key: keyOf('assignment_id', 'document_ordinal'),
  assignment_id: ofRoot('assignment_id'),
  document_ordinal: ordinal(),
  document_id: text('id', 'Id of the document.'),
  name: text('name', 'Name.'),
  description: freeText('description', 'Description.'),
  is_required: flag('required', 'Whether it must be there.'),
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
export const metaValues = fact('assignment_meta_value', 'One row per custom field of an assignment.', {
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
