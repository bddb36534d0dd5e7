/** Rows of sweeps and evidence by the names that `sync/deletions` uses. */
export type { SweepRow as SweepTable, UnreadRow as UnreadTable } from '../scans/tables.ts'
export type { DeletionRow as DeletionTable, WitnessKind } from './tables.ts'
