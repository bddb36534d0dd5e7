/** GET /credit-notes/{id}. */

import { readEndpoint } from '../declare/read.ts'
import { ownPapers } from '../keys/agency-view.ts'

export const creditNoteRead = readEndpoint({
  path: '/credit-notes/:id',
  collection: 'creditNotes',
  noun: 'credit note',
  scope: { company: 'company.id', agency: 'agency.id' },
  tests: ownPapers,
})
