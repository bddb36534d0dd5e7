/** The folder of an export: written as a draft beside the previous one, which it replaces when it is complete. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { temporaryPlace } from '../../temporary/places.ts'

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

/** Names beside the folder, for the draft and for the export that is being replaced. */
const beside = (folder: string, end: string): string => join(dirname(folder), `${basename(folder)}.${end}`)

export interface ExportFolder {
  /** Where to write. */
  readonly draft: string
  /** Replaces the previous export by the draft. */
  finish(): void
  /** Removes the draft; the previous export stays. */
  abandon(): void
}

/** Throws ConfigError for a folder with anything but an export in it, which would be lost. */
export function beginFolder(folder: string, mode: number): ExportFolder {
  const replaced = beside(folder, 'replaced')
  // A process that died between the two renames.
  if (!existsSync(folder) && isExport(replaced)) renameSync(replaced, folder)
  if (existsSync(folder) && !isExport(folder) && readdirSync(folder).length > 0)
    throw new ConfigError({
      what: 'the folder holds something other than an export of muster',
      where: folder,
      next: 'name a new or empty folder; nothing was changed',
    })
  mkdirSync(dirname(folder), { recursive: true })
  const place = temporaryPlace(beside(folder, 'writing'), 'an export, before it takes its place')
  const draft = place.path
  mkdirSync(draft, { mode })
  return {
    draft,
    finish() {
      rmSync(replaced, { recursive: true, force: true })
      if (existsSync(folder)) renameSync(folder, replaced)
      renameSync(draft, folder)
      place.keep()
      rmSync(replaced, { recursive: true, force: true })
    },
    abandon: () => place.remove(),
  }
}
