/** Declares the tables of evidence: deletions and their proof, quarantined records, and schema drift. */
import { count, type LedgerRow, oneOf, optional, piiTable, table, text, time } from '../declaration.ts'

export const evidenceTables = {
  key_scope: table({
    description: 'One row per run: what its key could see, according to /me.',
    columns: {
      run_id: text('The run.'),
      scope_id: text('The same for one key while its lists are the same.'),
      api_key_id: text('First 16 hex digits of the SHA-256 of the key.'),
      kind: oneOf(['company', 'agency']),
      companies: text('Ids of companies, sorted; a JSON array.'),
      agencies: text('Ids of agencies, sorted; a JSON array.'),
      scopes: text('Names of permissions, sorted; a JSON array.'),
      observed_at: time('When the service was asked.'),
    },
    key: ['run_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  evidence: table({
    description: 'One row per record and piece of evidence that it is missing at the source.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record.'),
      kind: oneOf({
        sweep: 'a complete read of the list did not have it',
        'by-id 404': 'the service knows no such record',
        event: 'the service announced the deletion',
      }),
      source: text('Id of the run or of the event.'),
      seen_at: time(
        'When the record was missing at the latest: start of the sweep, time of the answer, or arrival of the event.',
      ),
      void_at: optional(time('When the record was seen again; null while the evidence counts.')),
      void_reason: optional(text('How it was seen again.')),
    },
    key: ['resource', 'record_id', 'kind', 'source'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  deletion: table({
    description: 'One row per record and deletion: its rows were marked as deleted.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record.'),
      tombstoned_at: time('When its rows were marked.'),
      run_id: text('Run that marked them.'),
      deleted_at: time('Time of the latest evidence; a version fetched later brings the record back.'),
      evidence: text('Kind, source and time of each piece of evidence; a JSON array.'),
      undeleted_at: optional(time('When it came back; null while it is deleted.')),
      undeleted_by: optional(text('Run that saw it again.')),
    },
    key: ['resource', 'record_id', 'tombstoned_at'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  out_of_sight: table({
    description:
      'One row per record and scope that never showed it: its absence from that scope is no evidence.',
    columns: {
      resource: text('The resource.'),
      record_id: text('Id of the record.'),
      scope_id: text('What the key could see; see ops.key_scope.'),
      since: time('When that was first known.'),
    },
    key: ['resource', 'record_id', 'scope_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  quarantine: table({
    description:
      'One row per value that could not be loaded; its record stays out until a version can be loaded.',
    columns: {
      quarantine_id: text('md5 of resource, record, path, value and reason.'),
      resource: text('The resource.'),
      record_id: optional(text('Id of the record; null if it has none.')),
      path: text('Path in the record.'),
      text: optional(text('The value as the service wrote it.')),
      reason: text('Why it could not be loaded.'),
      payload: text('The record as JSON.'),
      page: text('Landed page that has it.'),
      run_id: text('Run that read it first.'),
      seen_at: time('When it was read last.'),
      resolved_at: optional(
        time('When a later version was loaded, or the service no longer had the record.'),
      ),
    },
    key: ['quarantine_id'],
    isPublished: false,
    lifetime: 'replayed',
  }),

  quarantine_look: table({
    description:
      'One row per resource: the last look for quarantined records fixed at the source without a new updatedAt.',
    columns: {
      resource: text('The resource.'),
      looked_at: time('When the service was asked.'),
      place: text('The requested created day, or the id of the record; empty for the complete list.'),
      page: count('Page that was requested.'),
      total: count('Records of that day, as counted by the service.'),
    },
    key: ['resource'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  schema_drift: table({
    description: 'One row per resource, path and kind of difference from what the service documents.',
    columns: {
      resource: text('The resource.'),
      path: text(
        'Path in the record, or the column of an unknown value; * for a key that may itself be data.',
      ),
      kind: oneOf({
        'unknown field': 'not declared',
        'unknown value': 'not in the documented list; pii.unknown_value has it',
        rounded: 'more digits than the column holds; attribute_leaf has all of them',
        'other form': 'the documented value in another form, such as a number as text',
      }),
      example_type: optional(text('Type of the value; never the value.')),
      run_id: text('Run that read it first.'),
      seen_at: time('When it was read.'),
    },
    key: ['resource', 'path', 'kind'],
    isPublished: true,
    lifetime: 'replayed',
  }),

  accepted_drift: table({
    description: 'One row per difference of ops.schema_drift that muster drift accept has accepted.',
    columns: {
      resource: text('The resource.'),
      path: text('As in ops.schema_drift.'),
      kind: text('As in ops.schema_drift.'),
      accepted_at: time('When it was accepted; a further new value of the column removes the row.'),
    },
    key: ['resource', 'path', 'kind'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  unknown_value: piiTable({
    description:
      'One row per value outside the documented list of its column; the service may write anything there.',
    columns: {
      resource: text('The resource.'),
      path: text('The column, as in ops.schema_drift.'),
      value: text('The value, cut to 80 characters.'),
      run_id: text('Run that read it first.'),
      seen_at: time('When it was read.'),
    },
    key: ['resource', 'path', 'value'],
    isPublished: false,
    lifetime: 'replayed',
  }),
}

export type KeyScopeRow = LedgerRow<typeof evidenceTables.key_scope>
export type EvidenceRow = LedgerRow<typeof evidenceTables.evidence>
export type EvidenceKind = EvidenceRow['kind']
export type DeletionRow = LedgerRow<typeof evidenceTables.deletion>
export type QuarantineRow = LedgerRow<typeof evidenceTables.quarantine>
export type QuarantineLookRow = LedgerRow<typeof evidenceTables.quarantine_look>
export type SchemaDriftRow = LedgerRow<typeof evidenceTables.schema_drift>
export type UnknownValueRow = LedgerRow<typeof evidenceTables.unknown_value>
