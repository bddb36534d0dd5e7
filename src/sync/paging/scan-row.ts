/** Saves the progress of a scan as ledger rows with each batch, and reads it when another run resumes the scan. */
import { pageLimit } from '../../api/client/paging.ts'
import { readPasses, savePasses } from '../../state/scans/scan-ids.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { beginPass, nextPass, type Pass } from './pass.ts'
import { planOf, sizeOf } from './pass-plan.ts'
import type { PassStart } from './proof.ts'
import type { ScanProgress } from './scan.ts'

export function changeOf({ pass, attempt, sequence, pageSize }: ScanProgress): Partial<ScanRow> {
  return {
    attempt,
    pass: pass.number,
    page_size: pageSize,
    next_page: pass.nextPage,
    loaded_sequence: sequence,
    pages: pass.pages,
    first_total: pass.start?.total ?? 0,
    last_total: pass.lastTotal,
    first_watermark: pass.watermark,
  }
}

export async function saveStarts(
  engine: Engine,
  scanId: string,
  starts: readonly PassStart[],
): Promise<void> {
  await savePasses(
    engine,
    scanId,
    starts.map(({ before, ...start }) => ({ scan_id: scanId, existed_before: before, ...start })),
  )
}

async function startsOf(engine: Engine, scanId: string): Promise<PassStart[]> {
  const rows = await readPasses(engine, scanId)
  return rows.map(({ pass, front, total, existed_before, watermark }) => ({
    pass: Number(pass),
    front: Number(front),
    total: Number(total),
    before: existed_before === null ? null : Number(existed_before),
    watermark,
  }))
}

function passOf(row: ScanRow, starts: readonly PassStart[], isPart: boolean): Pass {
  const number = Number(row.pass ?? row.attempt)
  const plan = planOf(Number(row.attempt), { isPart, total: starts[0]?.total })
  const pages = Number(row.pages)
  const start = starts.find(({ pass }) => pass === number)
  const { shown, ...begun } = beginPass(
    Number(row.next_page),
    sizeOf(plan, Number(row.page_size ?? pageLimit)),
  )
  return {
    ...begun,
    number,
    pages,
    // This page may have been returned once already. Otherwise a scan that is stopped after each request would request
    // it twice forever.
    last: Number(row.next_page),
    watermark: row.first_watermark,
    lastTotal: Number(row.last_total),
    // Pages before the interruption were not counted.
    shown: pages > 0 ? undefined : shown,
    isSteady: pages === 0,
    ...(start && { start }),
  }
}

/** Whether a pass stopped while it was looking beyond its first page: it cannot continue from there. */
const isAstray = ({ pages, start, nextPage }: Pass): boolean =>
  pages > 0 && (start === undefined || nextPage >= start.front)

/**
 * `page` and `size` apply to a scan that has not read anything yet; `isPart` means that it stops where it meets what is
 * known.
 */
export interface ScanBeginning {
  readonly page: number
  readonly size: number
  readonly isPart: boolean
}

export async function resumed(engine: Engine, row: ScanRow, beginning: ScanBeginning): Promise<ScanProgress> {
  const attempt = Number(row.attempt)
  const sequence = Number(row.loaded_sequence)
  if (Number(row.pages) === 0 && sequence === 0) {
    const pass = { ...beginPass(beginning.page, beginning.size), number: Number(row.pass ?? 1) }
    return { pass, attempt, starts: [], sequence, pageSize: beginning.size }
  }
  const pageSize = Number(row.page_size ?? pageLimit)
  const starts = await startsOf(engine, row.scan_id)
  const pass = passOf(row, starts, beginning.isPart)
  return { pass: isAstray(pass) ? nextPass(pass) : pass, attempt, starts, sequence, pageSize }
}
