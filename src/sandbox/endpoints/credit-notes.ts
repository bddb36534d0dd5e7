/** GET /credit-notes/{id}. */
import { ownPapers } from './agency-view.ts'
import { readEndpoint } from './read.ts'

export const creditNoteRead = readEndpoint({
  path: '/credit-notes/:id',
  collection: 'creditNotes',
  noun: 'credit note',
  scope: { company: 'company.id', agency: 'agency.id' },
  tests: ownPapers,
})
