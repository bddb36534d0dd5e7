/** Reads a scan of a list until it is proved, and fetches pages again that turn out not to be JSON. */
import { MusterError } from '../../lib/errors.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { readScan } from '../../state/scans/scans.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import { scan } from '../paging/scan.ts'
import type { ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { refusal } from './collection-window.ts'
import type { LoadedScanJob } from './loaded-scan.ts'
import { LoadedScan } from './loaded-scan.ts'

/** A filtered list counts rows that it does not show. */
export class HiddenByFilter extends Incomplete {}

async function refused(task: ResourceTask, row: ScanRow, strategy: LoadedScan): Promise<Incomplete> {
  const { hidesByFilter, contradiction } = strategy
  const found = await refusal(task, row, contradiction)
  const [first, ...others] = found.shortfalls
  return hidesByFilter && first ? new HiddenByFilter(first, ...others) : found
}

function unreadableTwice({ resource }: ResourceTask, cause: PageUnreadable): MusterError {
  return new MusterError({
    what: 'the service twice returned a page that cannot be split into records',
    where: `GET ${resource.path}`,
    next: 'report it to the service, or run again later; everything read before is loaded',
    cause,
  })
}

/** Whether the unreadable page belongs to the scan; if so, forgets the scan's pages since the last commit. */
export async function forgetUnreadable(
  { sync }: ResourceTask,
  row: ScanRow,
  { page: unreadable }: PageUnreadable,
): Promise<boolean> {
  const pages = await sync.landing.pages(row.scan_id)
  if (!pages.some(({ file }) => file === unreadable.file)) return false
  for (const page of pages) if (page.sequence > Number(row.loaded_sequence)) await sync.landing.forget(page)
  return true
}

/**
 * Returns when the scan is accepted. Throws Incomplete when it is refused, or the error that stopped it; everything
 * read so far is loaded. A page that cannot be loaded is fetched again once; after that its broken records go to
 * quarantine.
 */
export async function readUntilProved(task: ResourceTask, job: LoadedScanJob): Promise<void> {
  const strategy = await LoadedScan.open(task, job)
  try {
    if ((await scan(strategy, strategy.start)) === 'refused') throw await refused(task, job.row, strategy)
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error
    const row = (await readScan(task.sync.engine, job.row.scan_id)) ?? job.row
    await forgetUnreadable(task, row, error)
    if (!task.pipeline.readAgain.add(error.pages)) throw unreadableTwice(task, error)
    await readUntilProved(task, { ...job, row })
  }
}
