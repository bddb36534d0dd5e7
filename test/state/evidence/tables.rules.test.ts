/** What becomes of the rows of evidence elsewhere: in a published copy, in the copy of one company, and after a rebuild. */
import { expect, test } from 'vitest'
import { evidenceTables } from '../../../src/state/evidence/tables.ts'
import { policyOf, wordsOf } from '../policy.ts'

const lasting = { isPublished: false, lifetime: 'lasting' }
const replayed = { isPublished: false, lifetime: 'replayed' }

test('evidence lasts, quarantine and drift are read again from the pages, and the drift and what was accepted of it are published', () => {
  expect(policyOf(evidenceTables)).toEqual({
    key_scope: { ...lasting, key: ['run_id'] },
    evidence: { ...lasting, key: ['resource', 'record_id', 'kind', 'source'] },
    deletion: { ...lasting, key: ['resource', 'record_id', 'tombstoned_at'] },
    out_of_sight: { ...lasting, key: ['resource', 'record_id', 'scope_id'] },
    quarantine: { ...replayed, key: ['quarantine_id'] },
    quarantine_look: { ...lasting, key: ['resource'] },
    accepted_drift: { ...lasting, isPublished: true, key: ['resource', 'path', 'kind'] },
    schema_drift: { ...replayed, isPublished: true, key: ['resource', 'path', 'kind'] },
    unknown_value: { ...replayed, key: ['resource', 'path', 'value'] },
  })
})

test('columns of words describe each of them', () => {
  expect(wordsOf(evidenceTables)).toEqual({
    'key_scope.kind': ['company or agency'],
    'evidence.kind': ['sweep', 'by-id 404', 'event'],
    'schema_drift.kind': ['unknown field', 'unknown value', 'rounded', 'other form'],
  })
})
