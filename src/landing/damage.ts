/** Describes damage to a landing: scans that cannot be replayed completely, and the errors that mean so. */
import { basename } from 'node:path'

export interface ScanDamage {
  readonly scan: string
  /** Includes the file name. */
  readonly what: string
}

export class ScanDamaged extends Error {
  readonly damage: ScanDamage

  constructor(scan: string, what: string, cause?: unknown) {
    super(`${scan}: ${what}`, { cause })
    this.name = 'ScanDamaged'
    this.damage = { scan, what }
  }
}

/** The system denies access to a single file: missing permission, or a broken disk. */
export const isRefused = (error: unknown): boolean =>
  ['EACCES', 'EPERM', 'EIO'].includes(String((error as NodeJS.ErrnoException).code))

/** `name` is used when the error names no file. */
function whyUnreadable(error: unknown, name: string): string | undefined {
  if (!isRefused(error)) return undefined
  const { code, path = name, message } = error as NodeJS.ErrnoException
  return `${basename(path)} cannot be read: ${/: ([^,]+)/.exec(message)?.[1] ?? code}`
}

/** Why a scan cannot be replayed; undefined when the error is about something else. */
export function damageIn(scan: string, error: unknown): ScanDamage | undefined {
  if (error instanceof ScanDamaged) return error.damage
  const what = whyUnreadable(error, scan)
  return what === undefined ? undefined : { scan, what }
}

/** Reports a file that cannot be read as damaged. */
export async function readable(
  name: string,
  whatOf: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await whatOf()
  } catch (error) {
    const what = whyUnreadable(error, name)
    if (what === undefined) throw error
    return what
  }
}
