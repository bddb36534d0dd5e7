/** The folder of an export: written as a draft beside the previous one, which it replaces when it is complete. */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { syncToDisk } from '../../temporary/output-file.ts'
import { makeScratch, replaceFolder } from '../../temporary/scratch.ts'

export const manifestName = 'manifest.json'

/** Format of a manifest, which identifies an export. */
export const manifestFormat = 'muster export 1'

/** Bytes of the manifest of many thousand files. */
const largestManifest = 16 * 1_048_576

function isExport(folder: string): boolean {
  const text = readInputText(join(folder, manifestName), { mostBytes: largestManifest })
  if (typeof text !== 'string') return false
  try {
    const manifest: unknown = JSON.parse(text)
    return (
      typeof manifest === 'object' &&
      manifest !== null &&
      'format' in manifest &&
      manifest.format === manifestFormat
    )
  } catch (error) {
    // A file of that name by another program.
    if (error instanceof SyntaxError) return false
    throw error
  }
}

export interface ExportFolder {
  /** Where to write. */
  readonly draft: string
  /** Replaces the previous export by the draft. */
  finish(): void
  /** Removes the draft; the previous export stays. */
  abandon(): void
}

/** Throws for a link, and for a folder with anything but an export in it, which would be lost. */
function requireReplaceable(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory())
    throw new UsageError({
      what: found.isSymbolicLink() ? 'this is a link, not a folder' : 'this is a file, not a folder',
      where: folder,
      next: 'name a new or empty folder; nothing was changed',
    })
  if (isExport(folder) || readdirSync(folder).length === 0) return
  throw new ConfigError({
    what: 'the folder holds something other than an export of muster',
    where: folder,
    next: 'name a new or empty folder; nothing was changed',
  })
}

/** What DuckDB has written may still be in the memory of the system only. */
function syncAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    syncToDisk(join(entry.parentPath, entry.name))
  syncToDisk(folder)
}

/** Throws UsageError or ConfigError for a place that is not for an export. */
export function beginFolder(folder: string, mode: number): ExportFolder {
  requireReplaceable(folder)
  mkdirSync(dirname(folder), { recursive: true })
  const scratch = makeScratch(dirname(folder))
  const draft = join(scratch.path, basename(folder))
  mkdirSync(draft, { mode })
  return {
    draft,
    finish() {
      syncAll(draft)
      // What is there now may be another thing than at the beginning.
      requireReplaceable(folder)
      replaceFolder(draft, folder)
      scratch.remove()
      syncToDisk(dirname(folder))
    },
    abandon: scratch.remove,
  }
}
