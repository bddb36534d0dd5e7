/** How far a scan is, as ledger rows: written with each batch, read when another run resumes it. */
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { readPasses, savePasses } from '../../state/scans/scan-ids.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { nextPass } from './begin-again.ts'
import { limitOf, planOf, sizeOf } from './pass-plan.ts'
import { beginPass, type PassState } from './pass-state.ts'
import type { Base } from './proof.ts'
import type { Progress } from './scan.ts'

export function changeOf({ pass, attempt, sequence }: Progress): Partial<ScanRow> {
  return {
    attempt,
    pass: pass.number,
    page_size: pass.usual,
    page_limit: pass.limit,
    next_page: pass.nextPage,
    loaded_sequence: sequence,
    pages: pass.pages,
    first_total: pass.base?.total ?? 0,
    greatest_total: pass.greatestTotal,
    last_total: pass.lastTotal,
    first_watermark: pass.watermark,
  }
}

export async function saveBases(engine: Engine, scanId: string, bases: readonly Base[]): Promise<void> {
  await savePasses(
    engine,
    scanId,
    bases.map(({ before, ...base }) => ({ scan_id: scanId, existed_before: before, ...base })),
  )
}

async function basesOf(engine: Engine, scanId: string): Promise<Base[]> {
  const rows = await readPasses(engine, scanId)
  return rows.map(({ pass, front, total, existed_before, watermark }) => ({
    pass: Number(pass),
    front: Number(front),
    total: Number(total),
    before: existed_before === null ? null : Number(existed_before),
    watermark,
  }))
}

function passOf(row: ScanRow, bases: readonly Base[], isPart: boolean): PassState {
  const usual = Number(row.page_size ?? pageLimit)
  const attempt = Number(row.attempt)
  const number = Number(row.pass ?? row.attempt)
  const base = bases.find(({ pass }) => pass === number)
  const begun = { ...beginPass(Number(row.next_page), usual, Number(row.page_limit ?? pageLimit)), number }
  const size = sizeOf(limitOf(planOf(attempt, { isPart, total: bases[0]?.total }), begun), begun)
  return {
    ...begun,
    size,
    pages: Number(row.pages),
    // The page may have been answered once: a scan that is stopped after each request would ask for it a second time for ever.
    last: Number(row.next_page),
    watermark: row.first_watermark,
    greatestTotal: Number(row.greatest_total),
    lastTotal: Number(row.last_total),
    // Pages before the interruption were not counted.
    lacking: Number(row.pages) > 0 ? undefined : 0,
    rows: Number(row.pages) > 0 ? undefined : 0,
    isSteady: Number(row.pages) === 0,
    ...(base && { base }),
  }
}

/** Whether a pass stopped while it looked beyond its first page: it cannot go on from there. */
const isAstray = ({ pages, base, nextPage }: PassState): boolean =>
  pages > 0 && (base === undefined || nextPage >= base.front)

/**
 * `page`, `size` and `limit` are for a scan of which nothing is read yet, `isPart` says that it ends where it meets what is
 * known.
 */
export interface Beginning {
  readonly page: number
  readonly size: number
  readonly limit: number
  readonly isPart: boolean
}

export async function resumed(engine: Engine, row: ScanRow, beginning: Beginning): Promise<Progress> {
  const attempt = Number(row.attempt)
  const sequence = Number(row.loaded_sequence)
  if (Number(row.pages) === 0 && sequence === 0) {
    const pass = {
      ...beginPass(beginning.page, beginning.size, beginning.limit),
      number: Number(row.pass ?? 1),
    }
    return { pass, attempt, bases: [], sequence }
  }
  const bases = await basesOf(engine, row.scan_id)
  const pass = passOf(row, bases, beginning.isPart)
  const page = lastPage(pass.lastTotal, pass.size)
  return { pass: isAstray(pass) ? { ...nextPass(pass), nextPage: page } : pass, attempt, bases, sequence }
}
