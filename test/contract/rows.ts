/** Every row of the coverage table. */
import { errorRows } from './error-rows.ts'
import { eventRows } from './event-rows.ts'
import { keyRows } from './key-rows.ts'
import { limitRows } from './limit-rows.ts'
import { listRows } from './list-rows.ts'
import { mappingRows } from './mapping-rows.ts'
import { metricRows } from './metric-rows.ts'
import { operationRows } from './operation-rows.ts'
import { pagingRows } from './paging-rows.ts'
import { readRows } from './read-rows.ts'
import type { Row } from './row.ts'
import { uploadRows } from './upload-rows.ts'
import { writeRows } from './write-rows.ts'

export const rows: readonly Row[] = [
  ...operationRows,
  ...readRows,
  ...pagingRows,
  ...listRows,
  ...mappingRows,
  ...metricRows,
  ...writeRows,
  ...uploadRows,
  ...keyRows,
  ...errorRows,
  ...limitRows,
  ...eventRows,
]
