/** Removes temporary places whose processes ended without doing so. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as z from 'zod'
import { systemClock } from '../lib/clock.ts'
import { hourMs, minuteMs } from '../lib/dates.ts'
import { regularFile } from '../lib/input-file.ts'
import { ownerShape, runs } from './owner.ts'
import { putBack, registryName, removeEntry, removePlace } from './places.ts'

const shape = z.object({ path: z.string(), purpose: z.string(), owner: ownerShape })

export interface Leftover {
  readonly path: string
  readonly purpose: string
}

export interface Leftovers {
  readonly removed: readonly Leftover[]
  /** They belong to another user of this machine. */
  readonly refused: readonly Leftover[]
}

interface Entry {
  readonly file: string
  /** Milliseconds since the epoch. */
  readonly touchedAt: number
  /** Undefined when its process was killed while writing it, before there was a place. */
  readonly place?: z.infer<typeof shape>
}

/** The letters of an entry end the name of its place: an entry that somebody else wrote cannot name any other file. */
function placeIn(file: string): Entry['place'] {
  const text = readFileSync(file, 'utf8')
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const { data } = shape.safeParse(entry)
  return data?.path.endsWith(`-${basename(file, '.json')}`) ? data : undefined
}

function entriesOf(folder: string): Entry[] {
  const registry = join(folder, registryName)
  if (!existsSync(registry)) return []
  return readdirSync(registry)
    .filter(name => /^[0-9a-f]{12}\.json$/.test(name) && regularFile(join(registry, name)))
    .flatMap(name => {
      const file = join(registry, name)
      try {
        const place = placeIn(file)
        return [{ file, touchedAt: statSync(file).mtimeMs, ...(place && { place }) }]
      } catch (error) {
        // Its owner has just removed it, or it belongs to another user.
        if (['ENOENT', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) return []
        throw error
      }
    })
}

function isLeftOver({ place, touchedAt }: Entry, hours: number): boolean {
  const age = systemClock.now() - touchedAt
  return place ? !(runs(place.owner) ?? age < hours * hourMs) : age > minuteMs
}

/** Whether it is gone. Another user's may not be removed. */
function remove(path: string | undefined, entry?: string): boolean {
  try {
    if (path !== undefined) {
      putBack(path)
      removePlace(path)
    }
    if (entry !== undefined) removeEntry(entry)
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}

/** Pages for a replay, as releases before the registry left them when they were killed. */
function removeUnregistered(folder: string, hours: number): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder).filter(name => /^\.muster-replay-\w{6}$/.test(name))) {
    const path = join(folder, name)
    if (systemClock.now() - statSync(path).mtimeMs > hours * hourMs) remove(path)
  }
}

/**
 * What is registered in these folders and has lost its owner. An owner on another machine that has not shown itself for so
 * many hours is taken to be dead.
 */
export function removeLeftovers(folders: readonly string[], hours: number): Leftovers {
  const [removed, refused]: [Leftover[], Leftover[]] = [[], []]
  for (const folder of new Set(folders)) removeUnregistered(folder, hours)
  for (const entry of [...new Set(folders)].flatMap(entriesOf)) {
    if (!isLeftOver(entry, hours)) continue
    const isGone = remove(entry.place?.path, entry.file)
    if (entry.place) (isGone ? removed : refused).push(entry.place)
  }
  return { removed, refused }
}
