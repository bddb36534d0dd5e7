/** Tables of privacy: who was forgotten, without saying who. */
import { flag, oneOf, optional, type Row, table, text, time } from '../declaration.ts'

export const privacyTables = {
  forgotten: table({
    description: 'One row per person that muster forget erased; it does not say who.',
    columns: {
      person: text('Keyed hash of the kind and the id of the person.'),
      hash_key: text('Key of the hashes, the same in every row; drawn with the first.'),
      state: oneOf({ begun: 'something may be left; run muster forget again', done: 'nothing is left' }),
      allows_return: flag(
        'Whether a record that changed at the service afterwards may bring the person back.',
      ),
      begun_at: time('Since when pages arrive without the person.'),
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
}

export type ForgottenRow = Row<typeof privacyTables.forgotten>
