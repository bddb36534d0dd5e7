/** The folder of an export: written beside the one of before, and put in its place when it is whole. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import { isAlive } from '../../lib/is-alive.ts'

export const manifestName = 'manifest.json'

/** What a manifest begins with, by which an export is known. */
export const manifestFormat = 'muster export 1'

function isExport(folder: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
    return (
      typeof manifest === 'object' &&
      manifest !== null &&
      'format' in manifest &&
      manifest.format === manifestFormat
    )
  } catch {
    return false
  }
}

/** Names beside the folder, of what is being written and of what is being replaced. */
const beside = (folder: string, end: string): string => join(dirname(folder), `${basename(folder)}.${end}`)

/** Drafts carry the process that writes them, so that two exports into one folder do not mix. */
function removeRelics(folder: string): void {
  const begin = `${basename(folder)}.writing-`
  for (const name of readdirSync(dirname(folder))) {
    const pid = name.startsWith(begin) ? Number(name.slice(begin.length)) : 0
    if (pid > 0 && (pid === process.pid || !isAlive(pid)))
      rmSync(join(dirname(folder), name), { recursive: true, force: true })
  }
}

export interface ExportFolder {
  /** Where to write. */
  readonly draft: string
  /** Puts the draft in place; the export of before is gone after it. */
  finish(): void
  /** Removes the draft; the export of before stays. */
  abandon(): void
}

/** Throws ConfigError for a folder that holds anything but an export: it would be lost. */
export function beginFolder(folder: string, mode: number): ExportFolder {
  const replaced = beside(folder, 'replaced')
  // A process that died between the two renames.
  if (!existsSync(folder) && isExport(replaced)) renameSync(replaced, folder)
  if (existsSync(folder) && !isExport(folder) && readdirSync(folder).length > 0)
    throw new ConfigError({
      what: 'the folder holds something that is no export of muster',
      where: folder,
      next: 'name a new or empty folder; nothing was changed',
    })
  mkdirSync(dirname(folder), { recursive: true })
  removeRelics(folder)
  const draft = beside(folder, `writing-${process.pid}`)
  mkdirSync(draft, { mode })
  return {
    draft,
    finish() {
      rmSync(replaced, { recursive: true, force: true })
      if (existsSync(folder)) renameSync(folder, replaced)
      renameSync(draft, folder)
      rmSync(replaced, { recursive: true, force: true })
    },
    abandon: () => rmSync(draft, { recursive: true, force: true }),
  }
}
