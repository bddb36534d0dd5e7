/** Reads a mart from its file in `sql/mart`: its question, its columns, its sources and its statement. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { tablesNamed } from '../warehouse/schema/schemas.ts'
import { type SqlFile, sqlFiles } from '../warehouse/sql-files.ts'
import { dimensionMarts } from './dimensions.ts'
import { namesOf, readHeader } from './header.ts'

export interface MartColumn {
  readonly name: string
  /** The same word on both engines. */
  readonly type: string
  /** Together, the columns marked as key identify a row. */
  readonly isKey: boolean
  readonly description: string
}

/** How the build computes a column from a row of the statement's result, which is named `made`. */
export interface Computation {
  readonly select: string
  readonly join?: string
  /** A one-row query that the join names; materialized, or PostgreSQL may run it again for every row. */
  readonly once?: { readonly name: string; readonly query: string }
  /** Columns that it is computed from, with their tables. */
  readonly from: readonly string[]
  /** Table of star that it reads. */
  readonly reads: readonly string[]
}

/** A column of a mart's table, from its statement or computed by the build. */
export interface TableColumn extends MartColumn {
  readonly computed?: Computation
}

export interface Mart {
  /** Without its schema. */
  readonly name: string
  readonly summary: string
  /** What one row stands for. */
  readonly grain: string
  readonly question: string
  /** What it assumes where the service leaves a choice. */
  readonly assumption?: string
  /** Tables that its header declares, with their schema. */
  readonly sources: readonly string[]
  /** Tables that its statement reads. */
  readonly reads: readonly string[]
  readonly columns: readonly MartColumn[]
  /** Holds the tokens that `fillTokens` replaces. */
  readonly select: string
  /** Further lines of its header, such as `Measures` and `Groups`. */
  readonly fields: ReadonlyMap<string, string>
  /** Key of the dimension that it copies from star. */
  readonly dimensionOf?: string
  /** Changes with every change of the file. */
  readonly definitionId: string
}

const columnLine =
  /^(\w+) (text|integer|bigint|boolean|date|timestamptz|double precision|numeric\(\d+, ?\d+\))( key)?: (\S.*)$/

function columnOf(file: string, line: string): MartColumn {
  const [, name, type, key, description] = columnLine.exec(line) ?? []
  if (!name || !type || !description)
    throw new Error(`sql/${file}: "${line}" is not a column: write it as name type [key]: description`)
  return { name, type, isKey: key !== undefined, description }
}

/** Throws an Error with the file and what is missing in its header. */
export function readMart({ name: file, text }: SqlFile): Mart {
  const { summary, fields, columns, body } = readHeader(text)
  const required = (name: string): string => {
    const value = fields.get(name)
    if (value) return value
    throw new Error(`sql/${file}: its header has no line "-- ${name}: ..."`)
  }
  if (summary === '') throw new Error(`sql/${file}: its header does not begin with a sentence`)
  const assumption = fields.get('Assumption')
  const declared = columns.map(line => columnOf(file, line))
  if (!declared.some(({ isKey }) => isKey)) throw new Error(`sql/${file}: no column is marked as key`)
  return {
    name: basename(file, '.sql'),
    summary,
    grain: required('Grain'),
    question: required('Question'),
    ...(assumption !== undefined && { assumption }),
    sources: namesOf(required('Sources')),
    reads: tablesNamed(body),
    columns: declared,
    select: body,
    fields,
    definitionId: createHash('sha256').update(text).digest('hex').slice(0, 12),
  }
}

/** Every mart: the dimensions that others refer to, then the others, each in the order of their names. */
export function readMarts(): Mart[] {
  const written = sqlFiles('mart').map(readMart)
  return [...dimensionMarts(written.flatMap(({ columns }) => columns.map(({ name }) => name))), ...written]
}

/** On every row of every mart, after its own columns. */
export const stampColumns: readonly MartColumn[] = [
  {
    name: 'definition_id',
    type: 'text',
    isKey: false,
    description: 'Definition that the row was built with; it changes whenever the SQL of the mart does.',
  },
  {
    name: 'as_of',
    type: 'timestamptz',
    isKey: false,
    description: 'End of the last sync before the row was built: it shows the service as of then.',
  },
  { name: 'loaded_at', type: 'timestamptz', isKey: false, description: 'When the row was built.' },
]

const prefix = 'mart.'

/** Names of the marts that this one reads. */
export const martsRead = ({ reads }: Mart): string[] =>
  reads.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))

/** Each mart after those it reads. Throws an Error for an unknown mart and for a cycle. */
export function inOrder(marts: readonly Mart[]): Mart[] {
  const byName = new Map(marts.map(mart => [mart.name, mart]))
  const ordered = new Set<Mart>()
  const visit = (mart: Mart, trail: readonly string[]): void => {
    if (trail.includes(mart.name))
      throw new Error(`marts read each other: ${[...trail, mart.name].join(' -> ')}`)
    for (const name of martsRead(mart)) {
      const read = byName.get(name)
      if (!read) throw new Error(`sql/mart/${mart.name}.sql reads mart.${name}, which no file declares`)
      if (!ordered.has(read)) visit(read, [...trail, mart.name])
    }
    ordered.add(mart)
  }
  for (const mart of marts) visit(mart, [])
  return [...ordered]
}

/** The named marts and those that they read, directly or through others, in the order of `marts`. */
export function withSources(marts: readonly Mart[], names: readonly string[]): Mart[] {
  const wanted = new Set(names)
  for (const mart of marts.toReversed())
    if (wanted.has(mart.name)) for (const name of martsRead(mart)) wanted.add(name)
  return marts.filter(({ name }) => wanted.has(name))
}
