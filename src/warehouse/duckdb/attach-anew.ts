/** Gives back what DuckDB keeps in memory of each row group that it has written: the file is detached and attached again. */
import { setTimeout as pause } from 'node:timers/promises'
import { minuteMs } from '../../lib/dates.ts'
import { interruptible } from '../under-way.ts'
import { attachAs, type OpenedFile, searchPath } from './connect.ts'
import { InUse, openError } from './failure.ts'
import type { Place } from './into-file.ts'

/**
 * Batches of pages between two attachments. A column of a row group takes 2 kB until the file is detached: a batch of timesheets
 * with timelogs 0.9 MB, and ten million of them more than 1 GB. To attach anew takes 50 ms.
 */
export const batchesBetween = 24

/** Another process may open the file before it is attached again: most have it for seconds, a build of marts for minutes. */
const longestWaitMs = 10 * minuteMs
const firstPauseMs = 50
const longestPauseMs = 2_000

export interface Attachment {
  readonly file: string
  /** Nobody may use it meanwhile. */
  detach(): Promise<unknown>
  attach(): Promise<void>
  /** Whether it is the file that was detached: another may have been put in its place. */
  isSame(): boolean
}

export function attachmentOf({ connection, file, readOnly }: OpenedFile, place: Place): Attachment {
  const stage = 'stage_0'
  return {
    file: place.file,
    async detach() {
      // DuckDB keeps the database that names refer to.
      await connection.run(searchPath({ home: stage, stage }))
      await connection.run(`detach ${place.home}`)
    },
    async attach() {
      await attachAs(connection, { file, name: place.home, readOnly })
      await connection.run(searchPath({ home: place.home, stage }))
    },
    isSame: () => place.isWritten(),
  }
}

const replaced = (file: string): InUse =>
  new InUse({
    what: 'another process has put a new warehouse file in place',
    where: file,
    next: 'run the command again; what was committed before is kept',
  })

async function attachWhenFree({ file, attach }: Attachment, signal: AbortSignal): Promise<void> {
  let waitedMs = 0
  for (let ms = firstPauseMs; ; ms = Math.min(2 * ms, longestPauseMs)) {
    try {
      return await attach()
    } catch (cause) {
      const error = openError(file, cause)
      if (!(error instanceof InUse) || waitedMs > longestWaitMs) throw error
      // A process that is told to stop leaves with the reason why it waits.
      await pause(ms, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw error
      waitedMs += ms
    }
  }
}

/** Throws InUse when another process has kept the file, or has replaced it: nothing can be read or written any more. */
export async function attachAnew(attachment: Attachment): Promise<void> {
  await attachment.detach()
  const stop = new AbortController()
  await interruptible(
    () => stop.abort(),
    () => attachWhenFree(attachment, stop.signal),
  )
  if (!attachment.isSame()) throw replaced(attachment.file)
}
