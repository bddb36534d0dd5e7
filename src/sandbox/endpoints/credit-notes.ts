/** GET /credit-notes/{id}. */
import { readEndpoint } from './read.ts'

export const creditNoteRead = readEndpoint({
  path: '/credit-notes/:id',
  collection: 'creditNotes',
  noun: 'credit note',
  scope: { company: 'company.id', agency: 'agency.id' },
  // What a managed service provider credits its client is no agency's record, though it names one.
  tests: ({ key }) => (key.kind === 'agency' ? [note => note.creditNoteType !== 'mspToClient'] : []),
})
