/** A ledger in memory that is empty again for each test of a file: what a test writes is rolled back. */
import { afterEach, beforeEach } from 'vitest'
import type { DeletionRow, EvidenceRow, KeyScopeRow, QuarantineRow } from '../../src/state/evidence/tables.ts'
import { noFigures } from '../../src/state/runs/runs.ts'
import { freshScan } from '../../src/state/scans/scans.ts'
import type { ScanRow, SweepRow } from '../../src/state/scans/tables.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { type RulesWarehouse, rulesWarehouse } from './rules-warehouse.ts'

type Fields = Readonly<Record<string, unknown>>

export interface LedgerBench extends RulesWarehouse {
  /** Rows of one table, given with its schema; columns that are left out are null. */
  insert(table: string, ...rows: readonly Fields[]): Promise<void>
  /** The first column of each row. */
  column(sql: string): Promise<unknown[]>
}

/** An instant of the day on which the tests play. */
export const hour = (number: number, minutes = 0): string =>
  new Date(Date.UTC(2026, 2, 1, number, minutes)).toISOString()

const literal = (value: unknown): string =>
  typeof value === 'string' ? quoteText(value) : String(value ?? null)

function insertion(table: string, rows: readonly Fields[]): string {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const values = rows.map(row => `(${names.map(name => literal(row[name])).join(', ')})`)
  return `insert into ${table} (${names.join(', ')}) values ${values.join(', ')}`
}

/** Nothing that a test calls may begin a transaction of its own, unless `keepsRows`: then the tests of the file share them. */
export function ledgerBench({ keepsRows = false } = {}): LedgerBench {
  const warehouse = rulesWarehouse()
  if (!keepsRows) {
    beforeEach(() => warehouse.engine.run('begin').then(() => undefined))
    afterEach(() => warehouse.engine.run('rollback').then(() => undefined))
  }
  return Object.assign(warehouse, {
    async insert(table: string, ...rows: readonly Fields[]) {
      if (rows.length > 0) await warehouse.engine.run(insertion(table, rows))
    },
    column: async (sql: string) => (await warehouse.rows(sql)).map(row => Object.values(row)[0]),
  })
}

export const scan = (id: string, parts: Partial<ScanRow> = {}): ScanRow =>
  freshScan({
    ...{ scan_id: id, resource: 'expenses', kind: 'backfill', run_id: 'run-1', started_at: hour(1) },
    ...parts,
  })

/** A run that did nothing. */
export const run = (id: string, parts: Fields = {}): Fields => ({
  ...{ ...noFigures, run_id: id, command: 'sync', arguments: '', state: 'done', started_at: hour(1) },
  ...{ program_version: 'v', ...parts },
})

const { retries: _, ...readNothing } = noFigures

/** What a run did about a resource: it read no record. */
export const runResource = (id: string, parts: Fields = {}): Fields => ({
  ...{ ...readNothing, run_id: id, resource: 'expenses', state: 'done', note: null, ...parts },
})

/** A record whose id was found in another one, and which was read by it. */
export const discovered = (id: string, parts: Fields = {}): Fields => ({
  ...{ resource: 'expenses', record_id: id, source: 'x', first_seen_at: hour(1), state: 'stored' },
  ...{ state_since: hour(1), key_scope: 's', last_fetched_at: hour(1), fetches: 1, failed_fetches: 0 },
  ...{ changes: 0, exposure_days: 0, signals: 0, ...parts },
})

export const sweep = (id: string, parts: Partial<SweepRow> = {}): SweepRow => ({
  ...{ sweep_id: id, resource: 'expenses', scope_id: 'now', state: 'accepted', started_at: hour(1) },
  ...{ ended_at: null, earliest_day: null, run_id: 'run-1', total: 1, seen: 1, judged: 1, missing: 0 },
  ...{ note: null, ...parts },
})

export const keyScope = (run: string, scope: string, parts: Partial<KeyScopeRow> = {}): KeyScopeRow => ({
  ...{
    run_id: run,
    scope_id: scope,
    api_key_id: 'key',
    kind: 'company',
    companies: '["c1"]',
    agencies: '[]',
  },
  ...{ scopes: '[]', observed_at: hour(0), ...parts },
})

export const evidence = (id: string, parts: Partial<EvidenceRow> = {}): EvidenceRow => ({
  ...{ resource: 'expenses', record_id: id, kind: 'sweep', source: 'run-1', seen_at: hour(6) },
  ...{ void_at: null, void_reason: null, ...parts },
})

export const deletion = (id: string, parts: Partial<DeletionRow> = {}): DeletionRow => ({
  ...{ resource: 'expenses', record_id: id, tombstoned_at: hour(7), run_id: 'run-1', deleted_at: hour(6) },
  ...{ evidence: '[]', undeleted_at: null, undeleted_by: null, ...parts },
})

export const quarantined = (id: string, parts: Partial<QuarantineRow> = {}): QuarantineRow => ({
  ...{ quarantine_id: `q ${id}`, resource: 'expenses', record_id: id, path: 'p', text: null, reason: 'r' },
  ...{ payload: '{}', page: 'page', run_id: 'run-1', seen_at: hour(1), resolved_at: null, ...parts },
})

/** A live row of star.fact_expense that the run of scope `now` fetched at hour 5, in its version of hour 2. */
export const expense = (id: string, parts: Fields = {}): Fields => ({
  ...{ expense_id: id, created_at: hour(1), updated_at: hour(2), source_updated_at: hour(2) },
  ...{ loaded_at: hour(5), run_id: 'run-1', row_hash: 'h', is_deleted: false, deleted_at: null, ...parts },
})
