/** Rows of scans by the names that `sync/scan` uses. */
export type { WatermarkTable } from './scans/tables.ts'
