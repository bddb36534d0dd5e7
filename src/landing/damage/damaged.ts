/** What is said of a scan that is damaged, and which failures say so. */
import { basename } from 'node:path'

/** A scan that cannot be replayed, or not whole. */
export interface Damage {
  readonly scan: string
  /** With the name of the file. */
  readonly what: string
}

/** Thrown by whoever meets it. */
export class Damaged extends Error {
  readonly damage: Damage

  constructor(scan: string, what: string, cause?: unknown) {
    super(`${scan}: ${what}`, { cause })
    this.name = 'Damaged'
    this.damage = { scan, what }
  }
}

/** What the system refuses for a single file: to this user, or because of a broken disk. */
const refusals = ['EACCES', 'EPERM', 'EIO']

/** `name` is that of a file where the error names none. */
function unreadable(error: unknown, name: string): string | undefined {
  const { code, path = name, message } = error as NodeJS.ErrnoException
  if (!refusals.includes(String(code))) return undefined
  return `${basename(path)} cannot be read: ${/: ([^,]+)/.exec(message)?.[1] ?? code}`
}

/** Why a scan cannot be replayed; undefined when the error is about something else. */
export function damageIn(scan: string, error: unknown): Damage | undefined {
  if (error instanceof Damaged) return error.damage
  const what = unreadable(error, scan)
  return what === undefined ? undefined : { scan, what }
}

/** A file that cannot be read is damaged as well. */
export async function readable(
  name: string,
  whatOf: () => string | undefined | Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await whatOf()
  } catch (error) {
    const what = unreadable(error, name)
    if (what === undefined) throw error
    return what
  }
}
