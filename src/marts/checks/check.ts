/** A check: statements whose rows are what is wrong, how bad that is, and what to do about it. */
import { basename } from 'node:path'
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { type SqlFile, sqlFiles } from '../../warehouse/sql-files.ts'
import { namesOf, readHeader } from '../header.ts'

export type Severity = 'error' | 'warn'

/** One statement of a check, about one table. */
export interface Part {
  /** The table, with its schema; null where a column of that name tells it for each row. */
  readonly subject: string | null
  /** Tables that the statement names, with their schema. */
  readonly reads: readonly string[]
  /** Its first column tells which row is wrong, and never anything personal; tokens as in a mart, and `:now`. */
  readonly select: string
}

export interface Check {
  readonly name: string
  readonly severity: Severity
  /** What must hold. */
  readonly summary: string
  /** What to do about rows that it returns. */
  readonly next: string
  readonly parts: readonly Part[]
}

/** Throws an Error that names the file and what its header lacks. */
export function readCheck({ name: file, text }: SqlFile): Check {
  const { summary, fields, body } = readHeader(text)
  const said = (name: string): string => {
    const value = fields.get(name)
    if (value) return value
    throw new Error(`sql/${file}: its header has no line "-- ${name}: ..."`)
  }
  if (summary === '') throw new Error(`sql/${file}: its header does not begin with a sentence`)
  const severity = said('Severity')
  if (severity !== 'error' && severity !== 'warn')
    throw new Error(`sql/${file}: its severity is ${severity}; write error or warn`)
  const reads = tablesNamed(body)
  const sources = namesOf(said('Sources'))
  if ([...reads].sort().join() !== [...sources].sort().join())
    throw new Error(`sql/${file}: its Sources line says ${sources.join(', ')}; it reads ${reads.join(', ')}`)
  const subject = /\bas subject\b/.test(body) ? null : (sources[0] ?? '')
  return {
    name: basename(file, '.sql'),
    severity,
    summary,
    next: said('Next'),
    parts: [{ subject, reads, select: body }],
  }
}

/** Those of `sql/check`, in order of name. */
export const writtenChecks = (): Check[] => sqlFiles('check').map(readCheck)
