/** Loads landed pages of a task, and writes in the same transaction what the ledger must know of them. */
import type { LandedPage } from '../../landing/folder.ts'
import type { Loaded, LoadRequest } from '../../load/load.ts'
import { loadInParts } from '../../load/load-in-parts.ts'
import type { PageFile, RowsAt } from '../../load/read/pages.ts'
import { recordSent } from '../../state/requests/access.ts'
import { renewLease } from '../../state/runs/leases.ts'
import { addToRun, type RunFigures } from '../../state/runs/runs.ts'
import type { ResourceTask } from './context.ts'

export interface Batch {
  readonly pages: readonly LandedPage[]
  readonly rows: RowsAt
  /** Scope columns of each page. */
  readonly scope: (page: LandedPage) => Readonly<Record<string, string>>
  readonly windowId?: string
  readonly snapshot?: LoadRequest['snapshot']
  readonly isUnconfirmed?: boolean
  /** Further ledger rows of the same transaction. */
  readonly commit: (loaded: Loaded) => Promise<void>
}

/** One page of fifty is searched for undeclared fields, and the first of each walk. */
const isSampled = ({ sequence }: LandedPage): boolean => sequence === 1 || sequence % 50 === 0

function figuresOf(loaded: Loaded): Partial<RunFigures> {
  return {
    records_read: loaded.records,
    rows_inserted: loaded.inserted,
    rows_changed: loaded.changed,
    rows_removed: loaded.removed,
    records_unchanged: loaded.unchanged,
    quarantined: loaded.quarantined,
  }
}

function addToTally(task: ResourceTask, figures: Partial<RunFigures>): void {
  for (const [name, value] of Object.entries(figures)) task.tally[name as keyof RunFigures] += value
}

/** Of seconds that are written only the last may still grow. */
function forgetWritten(sent: Map<number, number>, last: number): void {
  for (const second of sent.keys()) if (second < last) sent.delete(second)
}

/** `before` is the load of earlier pages of the same walk: without its success nothing is written. */
export async function loadPages(
  task: ResourceTask,
  batch: Batch,
  before?: Promise<unknown>,
): Promise<Loaded> {
  const { sync, resource, plan, lease, drifted } = task
  const files = batch.pages.map((page): PageFile => ({ ...page, scope: batch.scope(page) }))
  const sampled = files.filter((_, index) => isSampled(batch.pages[index] as LandedPage))
  let lastSent = 0
  const loaded = await loadInParts(
    sync.engine,
    {
      plan,
      pages: files,
      rows: batch.rows,
      sampled,
      drifted,
      ...(batch.windowId !== undefined && { windowId: batch.windowId }),
      ...(batch.snapshot && { snapshot: batch.snapshot }),
      ...(batch.isUnconfirmed && { isUnconfirmed: true }),
      fence: () => renewLease(sync.engine, lease),
      commit: async result => {
        await batch.commit(result)
        await addToRun(sync.engine, sync.runId, figuresOf(result))
        await renewLease(sync.engine, lease)
        lastSent = Math.max(0, ...sync.sent.keys())
        await recordSent(sync.engine, sync.sent)
      },
    },
    before,
  )
  forgetWritten(sync.sent, lastSent)
  addToTally(task, figuresOf(loaded))
  sync.emit({
    resource: resource.name,
    state: 'loading',
    rows: task.tally.records_read,
    changed: task.tally.rows_inserted + task.tally.rows_changed + task.tally.rows_removed,
    requests: task.tally.requests,
  })
  return loaded
}
