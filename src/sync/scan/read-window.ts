/** Walks one window to its end, over pages that turn out to be no JSON if need be. */

import { MusterError } from '../../lib/errors.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { ledger } from '../../state/ledger.ts'
import type { ResourceTask } from '../run/context.ts'
import { type WindowJob, WindowWalk } from './window-walk.ts'

/** How often a page that is no JSON is asked for again before the walk gives up. */
const mostUnreadable = 3

/** Ends when the window is accepted or refused; throws what stopped the walk, with everything read so far loaded. */
export async function readWindow(task: ResourceTask, job: WindowJob): Promise<void> {
  let walked = job
  for (let unreadable = 1; ; unreadable += 1) {
    try {
      return await new WindowWalk(task, walked).run()
    } catch (error) {
      if (!(error instanceof PageUnreadable)) throw error
      walked = await current(task, job)
      forgetUnloaded(task, walked)
      if (unreadable >= mostUnreadable) throw notJson(task, error)
    }
  }
}

/** The window as its last commit left it. */
async function current(task: ResourceTask, job: WindowJob): Promise<WindowJob> {
  const [window] = await ledger(task.sync.engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('window_id', '=', job.window.window_id)
    .execute()
  return window ? { ...job, window } : job
}

/** The walk goes on from its last commit, and asks again for what came after it. */
function forgetUnloaded({ sync }: ResourceTask, { window }: WindowJob): void {
  const pages = sync.landing.pages(window.window_id)
  for (const page of pages) if (page.sequence > Number(window.loaded_sequence)) sync.landing.forget(page)
}

function notJson({ resource }: ResourceTask, cause: PageUnreadable): MusterError {
  return new MusterError({
    what: 'the service answered a page that is not JSON, three times',
    where: `GET ${resource.path}`,
    next: 'tell the service about it, or run again later; what was read before is loaded',
    cause,
  })
}
