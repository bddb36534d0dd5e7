/** Writes the files of a bundle that a BI tool reads, from the catalogue. */
import { stringify } from 'yaml'
import type { Entity } from './entity.ts'

/** In the first lines of each file; the program recognizes its files by it. */
export const marker = 'written by muster docs'

export interface BundleFile {
  /** Below the folder of the bundle. */
  readonly path: string
  readonly content: string | Uint8Array
}

/** The warehouse as the tool reaches it. */
export interface WarehousePlace {
  /** Address for SQLAlchemy, without a password. */
  readonly uri: string
  readonly kind: 'file' | 'server'
  readonly host: string
  readonly port: number
  readonly database: string
  /** Name of the schema of the marts. */
  readonly schema: string
}

export interface BundleRequest {
  readonly entities: readonly Entity[]
  readonly place: WarehousePlace
  readonly version: string
}

/** Superset and dbt read YAML 1.1, in which an unquoted time or yes is not a text. */
export const yamlText = (tree: unknown): string =>
  stringify(tree, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })

export const yamlFile = (path: string, tree: unknown): BundleFile => ({
  path,
  content: `# ${marker}: changes by hand are lost\n${yamlText(tree)}`,
})

export const textFile = (path: string, comment: string, text: string): BundleFile => ({
  path,
  content: `${comment} ${marker}: changes by hand are lost\n${text}\n`,
})
