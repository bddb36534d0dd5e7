/** A mart as its file in `sql/mart` declares it: what it answers, its columns, what it reads, and how it is made. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { tablesNamed } from '../warehouse/schema/schemas.ts'
import { type SqlFile, sqlFiles } from '../warehouse/sql-files.ts'
import { namesOf, readHeader } from './header.ts'

export interface MartColumn {
  readonly name: string
  /** The same word on both engines. */
  readonly type: string
  /** Rows are told apart by the columns that say so, all together. */
  readonly isKey: boolean
  readonly description: string
}

export interface Mart {
  /** Without its schema. */
  readonly name: string
  readonly summary: string
  /** What one row is. */
  readonly grain: string
  readonly question: string
  /** What it takes for granted where the service leaves a choice. */
  readonly assumption?: string
  /** Tables that it says it reads, with their schema. */
  readonly sources: readonly string[]
  /** Tables that its statement names. */
  readonly reads: readonly string[]
  readonly columns: readonly MartColumn[]
  /** With the tokens that `fillTokens` replaces. */
  readonly select: string
  /** Changes with every change of the file. */
  readonly definitionId: string
}

const columnLine =
  /^(\w+) (text|integer|bigint|boolean|date|timestamptz|double precision|numeric\(\d+, ?\d+\))( key)?: (\S.*)$/

function columnOf(file: string, line: string): MartColumn {
  const [, name, type, key, description] = columnLine.exec(line) ?? []
  if (!name || !type || !description)
    throw new Error(`sql/${file}: "${line}" is no column: write it as name type [key]: description`)
  return { name, type, isKey: key !== undefined, description }
}

/** Throws an Error that names the file and what its header lacks. */
export function readMart({ name: file, text }: SqlFile): Mart {
  const { summary, fields, columns, body } = readHeader(text)
  const said = (name: string): string => {
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
    grain: said('Grain'),
    question: said('Question'),
    ...(assumption !== undefined && { assumption }),
    sources: namesOf(said('Sources')),
    reads: tablesNamed(body),
    columns: declared,
    select: body,
    definitionId: createHash('sha256').update(text).digest('hex').slice(0, 12),
  }
}

/** Every mart, in the order of their names. */
export const readMarts = (): Mart[] => sqlFiles('mart').map(readMart)

/** On every row of every mart, behind its own columns. */
export const stampColumns: readonly MartColumn[] = [
  {
    name: 'definition_id',
    type: 'text',
    isKey: false,
    description: 'Definition that made the row: it changes whenever the SQL of the mart does.',
  },
  {
    name: 'as_of',
    type: 'timestamptz',
    isKey: false,
    description:
      'Until when the row knows what the service said: the end of the last sync before it was made.',
  },
  { name: 'loaded_at', type: 'timestamptz', isKey: false, description: 'When the row was made.' },
]
