/** Frees the memory that DuckDB keeps for each written row group, by detaching and attaching the file. */
import { setTimeout as pause } from 'node:timers/promises'
import { minuteMs } from '../../lib/dates.ts'
import { interruptible } from '../turns.ts'
import { attachAs, type OpenedFile, searchPath } from './connect.ts'
import { FileInUse, openError } from './failure.ts'
import type { DatabaseFile } from './into-file.ts'

/**
 * Batches of pages between two attachments. A column of a row group takes 2 kB until the file is detached: 0.9 MB for a batch
 * of timesheets with timelogs, and more than 1 GB for ten million timesheets. Attaching again takes 50 ms.
 */
export const batchesBetween = 24

/** Another process may open the file before it is attached again, mostly for seconds; a build of marts takes minutes. */
const longestWaitMs = 10 * minuteMs
const firstPauseMs = 50
const longestPauseMs = 2_000

export interface Attachment {
  readonly file: string
  /** No connection may use it until it is attached again. */
  detach(): Promise<unknown>
  attach(): Promise<void>
  /** Whether it is the file that was detached, not a replacement. */
  isSame(): boolean
}

export function attachmentOf({ connection, file, readOnly }: OpenedFile, place: DatabaseFile): Attachment {
  const stage = 'stage_0'
  return {
    file: place.file,
    async detach() {
      // DuckDB cannot detach the database that names refer to.
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

const replaced = (file: string): FileInUse =>
  new FileInUse({
    what: 'another process has replaced the warehouse file',
    where: file,
    next: 'run the command again; what was committed before that is kept',
  })

async function attachWhenFree({ file, attach }: Attachment, signal: AbortSignal): Promise<void> {
  let waitedMs = 0
  for (let ms = firstPauseMs; ; ms = Math.min(2 * ms, longestPauseMs)) {
    try {
      return await attach()
    } catch (cause) {
      const error = openError(file, cause)
      if (!(error instanceof FileInUse) || waitedMs > longestWaitMs) throw error
      // On a stop signal, the wait ends and the reason for waiting is reported.
      await pause(ms, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw error
      waitedMs += ms
    }
  }
}

/** Throws FileInUse if another process keeps the file or has replaced it: no read or write is possible any more. */
export async function reattach(attachment: Attachment): Promise<void> {
  await attachment.detach()
  const stop = new AbortController()
  await interruptible(
    () => stop.abort(),
    () => attachWhenFree(attachment, stop.signal),
  )
  if (!attachment.isSame()) throw replaced(attachment.file)
}
