/** Reads a scan of a list until it is proved, and asks again for pages that turn out to be no JSON. */
import { MusterError } from '../../lib/errors.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { readScan } from '../../state/scans/scans.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import { scan } from '../paging/scan.ts'
import type { ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { refusal } from './collection-window.ts'
import { LoadedScan } from './loaded-scan.ts'
import type { LoadedScanJob } from './loaded-scan-job.ts'

/** A filtered list counts rows that it does not show. */
export class HiddenByFilter extends Incomplete {}

async function refused(task: ResourceTask, row: ScanRow, { hidesByFilter }: LoadedScan): Promise<Incomplete> {
  const found = await refusal(task, row)
  const [first, ...others] = found.shortfalls
  return hidesByFilter && first ? new HiddenByFilter(first, ...others) : found
}

function hopeless({ resource }: ResourceTask, cause: PageUnreadable): MusterError {
  return new MusterError({
    what: 'the service answered a page twice of which not even the records can be told apart',
    where: `GET ${resource.path}`,
    next: 'tell the service about it, or run again later; what was read before is loaded',
    cause,
  })
}

/** Whether the page that could not be read belongs to the scan; its pages since the last commit are forgotten then. */
export async function forgetUnreadable(
  { sync }: ResourceTask,
  row: ScanRow,
  { page: unreadable }: PageUnreadable,
): Promise<boolean> {
  if (!(await sync.landing.has(row.scan_id))) return false
  const pages = await sync.landing.pages(row.scan_id)
  if (!pages.some(({ file }) => file === unreadable.file)) return false
  for (const page of pages) if (page.sequence > Number(row.loaded_sequence)) await sync.landing.forget(page)
  return true
}

/**
 * Ends when the scan is accepted; throws Incomplete when it is refused, or what stopped it, with everything read so far
 * loaded. A page that cannot be loaded is asked for again once; after that its broken records go to quarantine.
 */
export async function readUntilProved(task: ResourceTask, job: LoadedScanJob): Promise<void> {
  const strategy = await LoadedScan.open(task, job)
  try {
    if ((await scan(strategy, strategy.start)) === 'refused') throw await refused(task, job.row, strategy)
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error
    const row = (await readScan(task.sync.engine, job.row.scan_id)) ?? job.row
    await forgetUnreadable(task, row, error)
    if (!task.pipeline.readAgain.add(error.pages)) throw hopeless(task, error)
    await readUntilProved(task, { ...job, row })
  }
}
