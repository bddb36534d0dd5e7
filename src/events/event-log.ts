/** Stores events beside a DuckDB file: appends and syncs lines in groups, in files that a drain loads and removes. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { regularFile } from '../lib/input-file.ts'
import type { InboxEvent } from '../state/inbox/arrivals.ts'

export interface EventLog {
  /** Appends all or none; resolves once they are on disk. */
  append(events: readonly InboxEvent[]): Promise<void>
  /** Ends the current file and returns all ended ones, oldest first; later appends go to a new file. */
  seal(): Promise<readonly string[]>
  /** Call once their events are in the warehouse. */
  remove(files: readonly string[]): Promise<void>
  close(): Promise<void>
}

interface OpenLog {
  readonly file: string
  readonly handle: FileHandle
  /** Bytes on disk. */
  length: number
}

/** Files not loaded yet, of this and earlier processes, oldest first. */
export function waitingFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => /^\d{12}\.ndjson$/.test(name))
    .sort()
    .map(name => join(folder, name))
    .filter(file => regularFile(file))
}

/** 0 for a file that was loaded and removed meanwhile. */
export const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Bytes of events that are not loaded yet; 0 without the folder. */
export const loggedBytes = (folder: string): number =>
  existsSync(folder) ? waitingFiles(folder).reduce((sum, file) => sum + bytesOf(file), 0) : 0

const lineOf = (event: InboxEvent): string => `${JSON.stringify(event)}\n`

class Log implements EventLog {
  readonly #folder: string
  #number: number
  #current: OpenLog | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#number = Number(basename(waitingFiles(folder).at(-1) ?? '0', '.ndjson'))
  }

  append(events: readonly InboxEvent[]): Promise<void> {
    return this.#inTurn(async () => {
      const current = await this.#open()
      const lines = Buffer.from(events.map(lineOf).join(''))
      try {
        await current.handle.appendFile(lines)
        await current.handle.datasync()
        current.length += lines.length
      } catch (error) {
        await this.#takeBack(current)
        throw error
      }
    })
  }

  seal(): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      // Keeps an empty file open: on a full disk, every tick would otherwise leave another one.
      if (this.#current?.length !== 0) await this.#end()
      return waitingFiles(this.#folder).filter(file => file !== this.#current?.file)
    })
  }

  async remove(files: readonly string[]): Promise<void> {
    for (const file of files) await rm(file, { force: true })
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#end())
  }

  /** First come, first served, so that a drain under load need not wait for a gap between writes. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work)
    // The caller gets the failure; the next turn only waits until this one ends.
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #open(): Promise<OpenLog> {
    if (this.#current) return this.#current
    this.#number += 1
    const file = join(this.#folder, `${String(this.#number).padStart(12, '0')}.ndjson`)
    const handle = await open(file, 'ax', 0o600)
    try {
      await syncFolder(this.#folder)
    } catch (error) {
      await handle.close()
      await rm(file)
      throw error
    }
    this.#current = { file, handle, length: 0 }
    return this.#current
  }

  /** Cuts off a half-written line, so that the next one does not join it; where that fails, a new file begins. */
  async #takeBack({ handle, length }: OpenLog): Promise<void> {
    try {
      await handle.truncate(length)
    } catch {
      // The disk failed twice. The caller throws the first failure, and the loader skips an unfinished last line.
      await this.#end().catch(() => undefined)
    }
  }

  async #end(): Promise<void> {
    const current = this.#current
    this.#current = undefined
    await current?.handle.close()
  }
}

/** The name of a new file is durable only when its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Creates a missing folder, readable by its owner only. Keeps the files of a dead process. */
export function openEventLog(folder: string): EventLog {
  return new Log(folder)
}
