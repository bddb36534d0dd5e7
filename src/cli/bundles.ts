/** The bundles of `muster docs` for BI tools: where the warehouse is for them, and their files. */
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Connection } from '../config/connection.ts'
import { counted } from '../lib/counted.ts'
import { programVersion } from '../lib/program-version.ts'
import { readMarts } from '../marts/mart.ts'
import type { Place } from '../semantic/bundle.ts'
import { semanticCatalogue } from '../semantic/catalogue.ts'
import { type Format, formats } from '../semantic/formats.ts'
import { type OutputRules, requireOutput, writeOutput } from '../temporary/output-file.ts'
import { publishedFile } from '../warehouse/duckdb/database-file.ts'
import { type Options, textOption } from './command.ts'
import type { CommandContext } from './context.ts'

/** The user that `muster roles` makes for BI tools. */
const biUser = 'muster_bi'
const usualPort = 5432

function serverPlace(shown: string, prefix: string): Place {
  const { hostname, port, pathname } = new URL(shown)
  const host = hostname === '' ? 'localhost' : hostname
  const database = decodeURIComponent(pathname.slice(1)) || 'muster'
  const at = { host, port: Number(port || usualPort), database }
  return {
    ...at,
    kind: 'postgres',
    uri: `postgresql+psycopg2://${biUser}@${host}:${at.port}/${encodeURIComponent(database)}`,
    schema: `${prefix}mart`,
  }
}

/** BI tools read the published copy: the working file belongs to whoever writes it. */
function filePlace(file: string): Place {
  const database = publishedFile(file)
  return {
    kind: 'duckdb',
    uri: `duckdb:///${database}?access_mode=READ_ONLY`,
    host: 'localhost',
    port: usualPort,
    database,
    schema: 'mart',
  }
}

function placeOf(connection: Connection | undefined): Place {
  if (connection === undefined) return serverPlace('postgresql://localhost/muster', '')
  const { warehouse, schemaPrefix = '' } = connection
  return warehouse.kind === 'file' ? filePlace(warehouse.file) : serverPlace(warehouse.shown, schemaPrefix)
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

/** Throws UsageError for a file that may not be written before any of its bundle is. */
export function writeBundles(context: CommandContext, options: Options, rules: OutputRules): Bundle[] {
  const place = placeOf(context.hasSettings() ? context.connection() : undefined)
  const request = { entities: semanticCatalogue(readMarts()), place, version: programVersion }
  return wantedFormats(options).map(({ name, files }) => {
    const folder = resolve(context.cwd, textOption(options, name) ?? '')
    const made = files(request).map(({ path, content }) => ({ file: resolve(folder, path), content }))
    for (const { file } of made) {
      mkdirSync(dirname(file), { recursive: true })
      requireOutput(file, rules)
    }
    for (const { file, content } of made) writeOutput(file, content, rules)
    return { format: name, folder, files: made.length }
  })
}

export const bundleLine = ({ format, folder, files }: Bundle): string =>
  `${format}: ${counted(files, 'file')} in ${folder}`
