/** Declares the tables of forgotten persons, who are stored as hashes only, and of the field policy. */
import { flag, type LedgerRow, oneOf, optional, table, text, time } from './declaration.ts'

export const privacyTables = {
  forgotten: table({
    description: 'One row per person that muster forget erased; it does not say who.',
    columns: {
      person: text('Keyed hash of the kind and the id of the person.'),
      hash_key: text('Key of the hashes, the same in every row; generated with the first row.'),
      state: oneOf({ begun: 'data may be left; run muster forget again', done: 'no data is left' }),
      allows_return: flag('Whether a record changed at the service afterwards may bring the person back.'),
      begun_at: time('From this time on, pages are stored without the person.'),
      done_at: optional(time('When everything was erased.')),
    },
    key: ['person'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  forgotten_value: table({
    description: 'One row per name, e-mail address or telephone number of a forgotten person.',
    columns: {
      person: text('The person, as in ops.forgotten.'),
      value_hash: text('Keyed hash of the value without case, spacing and punctuation.'),
    },
    key: ['person', 'value_hash'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  field_rule: table({
    description: 'One row per rule of the field policy that all stored data follows.',
    columns: {
      pattern: text('Resource and path of the fields, such as companies.finance or *.email.'),
      treatment: oneOf({ block: 'never stored', hash: 'stored as a keyed hash' }),
      key_id: optional(text('Which key made the hashes: a hash of it; null for a blocked field.')),
      applied_at: time('Since when everything stored follows the rule.'),
    },
    key: ['pattern', 'treatment'],
    isPublished: false,
    lifetime: 'lasting',
  }),
}

export type FieldRuleRow = LedgerRow<typeof privacyTables.field_rule>
export type ForgottenRow = LedgerRow<typeof privacyTables.forgotten>
