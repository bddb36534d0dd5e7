/** Rows of sweeps and evidence by the names that `sync/deletions` uses. */
export type { SweepIdTable, SweepTable, SweepWindowTable, UnreadTable } from '../scans/tables.ts'
export type { DeletionRow as DeletionTable, WitnessKind } from './tables.ts'
