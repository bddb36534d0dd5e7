/** Rows of scans by the names that `sync/scan` uses. */
export type { WatermarkTable, WindowTable } from './scans/tables.ts'
