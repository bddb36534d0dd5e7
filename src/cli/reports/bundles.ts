/** Writes the bundles of `muster docs` for BI tools: their files, and the warehouse address in them. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { readMarts } from '../../marts/mart.ts'
import type { BundleFile, WarehousePlace } from '../../semantic/bundle.ts'
import { semanticCatalogue } from '../../semantic/catalogue.ts'
import { type Format, formats } from '../../semantic/formats.ts'
import {
  type OutputRules,
  requireOutput,
  requireUnguarded,
  writeOutput,
} from '../../temporary/output-file.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'

/** The user that `muster roles` creates for BI tools. */
const biUser = 'muster_bi'
const defaultPort = 5432

function placeOnServer(shown: string, prefix: string): WarehousePlace {
  const { hostname, port, pathname } = new URL(shown)
  const host = hostname === '' ? 'localhost' : hostname
  const database = decodeURIComponent(pathname.slice(1)) || 'muster'
  const at = { host, port: Number(port || defaultPort), database }
  return {
    ...at,
    kind: 'server',
    uri: `postgresql+psycopg2://${biUser}@${host}:${at.port}/${encodeURIComponent(database)}`,
    schema: `${prefix}mart`,
  }
}

/** BI tools read the published copy: a writer locks the working file. */
function placeInFile(file: string): WarehousePlace {
  const database = publishedFile(file)
  return {
    kind: 'file',
    uri: `duckdb:///${database}?access_mode=READ_ONLY`,
    host: 'localhost',
    port: defaultPort,
    database,
    schema: 'mart',
  }
}

function warehousePlaceOf(connection: StoredConnection | undefined): WarehousePlace {
  if (connection === undefined) return placeOnServer('postgresql://localhost/muster', '')
  const { warehouse, schemaPrefix = '' } = connection
  return warehouse.kind === 'file'
    ? placeInFile(warehouse.file)
    : placeOnServer(warehouse.shown, schemaPrefix)
}

export const bundleOptions = formats.map(({ name, summary }) => ({
  flags: `--${name} <folder>`,
  summary: `${summary}, into this folder`,
}))

export interface Bundle {
  readonly format: string
  readonly folder: string
  readonly files: number
}

export const wantedFormats = (options: Options): Format[] =>
  formats.filter(({ name }) => textOption(options, name) !== undefined)

const refuse = (folder: string, what: string): UsageError =>
  new UsageError({ what, where: folder, next: 'name another folder; nothing was changed' })

export interface BundleTarget {
  readonly folder: string
  /** Generated only when needed. */
  readonly files: () => readonly BundleFile[]
}

/** Checks the nearest existing folder above: missing ones are created. */
function requireFolderAbove(folder: string): void {
  let above = dirname(folder)
  while (!existsSync(above)) above = dirname(above)
  if (!statSync(above).isDirectory()) throw refuse(above, 'this is not a folder')
}

/** Throws UsageError for a path that is not a folder, or a folder with files that Muster did not write. */
export function requireBundleFolder({ folder, files }: BundleTarget, rules: OutputRules): void {
  requireFolderAbove(folder)
  requireUnguarded(folder, rules.guarded)
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink()) throw refuse(folder, 'this is a link')
  if (!found.isDirectory()) throw refuse(folder, 'this is not a folder')
  if (rules.isForced || readdirSync(folder).length === 0) return
  const present = files()
    .map(({ path }) => resolve(folder, path))
    .filter(file => existsSync(file))
  if (!present.some(rules.isOurs)) throw refuse(folder, 'this folder holds other files')
  for (const file of present) requireOutput(file, rules)
}

interface WrittenFolder {
  readonly folder: string
  readonly files: readonly BundleFile[]
}

/** Also removes what an earlier release wrote beside them and this one does not, such as the statement of a former mart. */
export function writeFolders(folders: readonly WrittenFolder[], rules: OutputRules): void {
  const written = new Set<string>()
  for (const { folder, files } of folders)
    for (const { path, content } of files) {
      const file = resolve(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeOutput(file, content, rules)
      written.add(file)
    }
  for (const place of new Set([...written].map(dirname)))
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      const file = join(place, entry.name)
      if (entry.isFile() && !written.has(file) && rules.isOurs(file)) rmSync(file)
    }
}

/** Throws UsageError for a folder that may not be written, before writing anything. */
export function writeBundles(context: CommandContext, options: Options, rules: OutputRules): Bundle[] {
  const wanted = wantedFormats(options)
  if (wanted.length === 0) return []
  const place = warehousePlaceOf(context.hasSettings() ? context.stored() : undefined)
  const entities = semanticCatalogue(readMarts())
  const targets = wanted.map(({ name, files }) => ({
    name,
    folder: resolve(context.cwd, textOption(options, name) ?? ''),
    files: () => files({ entities, place, version: programVersion }),
  }))
  for (const target of targets) requireBundleFolder(target, rules)
  const made = targets.map(({ name, folder, files }) => ({ name, folder, files: files() }))
  writeFolders(made, rules)
  return made.map(({ name, folder, files }) => ({ format: name, folder, files: files.length }))
}

export const bundleLine = ({ format, folder, files }: Bundle): string =>
  `${format}: ${counted(files, 'file')} in ${folder}`
