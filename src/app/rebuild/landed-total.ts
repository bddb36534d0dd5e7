/** What a landed page says of the size of its list. */
import { readFileSync } from 'node:fs'
import { readEnvelope } from '../../api/client/envelope.ts'
import { PAGE_LIMIT } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'

export function totalOf(page: LandedPage): number {
  return readEnvelope(readFileSync(page.file), { page: page.page, limit: PAGE_LIMIT }).meta?.total ?? 0
}
