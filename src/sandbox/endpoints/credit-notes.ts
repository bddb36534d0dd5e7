/** GET /credit-notes/{id}. */
import { creditNotes } from '../../contract/resources/credit-notes.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { billsOfAgencies } from '../keys/agencies.ts'

export const creditNoteRead = readEndpoint({
  path: '/credit-notes/:id',
  scope: 'read:credit-notes',
  tool: 'get_credit_note',
  summary: 'One credit note.',
  returns: recordOf('CreditNote', creditNotes),
  collection: 'creditNotes',
  noun: 'credit note',
  within: { company: 'company.id', agency: 'agency.id' },
  tests: billsOfAgencies,
})
