/** A check: statements that return wrong rows, with a severity and what to do about them. */
import { basename } from 'node:path'
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { type SqlFile, sqlFiles } from '../../warehouse/sql-files.ts'
import { namesOf, readHeader } from '../header.ts'

export type Severity = 'error' | 'warn'

/** One statement of a check. */
export interface Part {
  /** The table it checks, with its schema; null where the column `subject` gives it for each row. */
  readonly subject: string | null
  /** Tables that the statement reads, with their schema. */
  readonly reads: readonly string[]
  /** The first column identifies the wrong row and is never personal. Tokens as in a mart, and `:now`. */
  readonly select: string
  /** A condition without which the statement returns nothing; cheaper than the statement where patterns are slow. */
  readonly precondition?: string
}

export interface Check {
  readonly name: string
  readonly severity: Severity
  /** What must hold. */
  readonly summary: string
  /** What to do about the rows. */
  readonly next: string
  readonly parts: readonly Part[]
}

/** Throws an Error with the file and what is missing in its header. */
export function readCheck({ name: file, text }: SqlFile): Check {
  const { summary, fields, body } = readHeader(text)
  const required = (name: string): string => {
    const value = fields.get(name)
    if (value) return value
    throw new Error(`sql/${file}: its header has no line "-- ${name}: ..."`)
  }
  if (summary === '') throw new Error(`sql/${file}: its header does not begin with a sentence`)
  const severity = required('Severity')
  if (severity !== 'error' && severity !== 'warn')
    throw new Error(`sql/${file}: its severity is ${severity}; write error or warn`)
  const reads = tablesNamed(body)
  const sources = namesOf(required('Sources'))
  if ([...reads].sort().join() !== [...sources].sort().join())
    throw new Error(`sql/${file}: its Sources line says ${sources.join(', ')}; it reads ${reads.join(', ')}`)
  const subject = /\bas subject\b/.test(body) ? null : (sources[0] ?? '')
  return {
    name: basename(file, '.sql'),
    severity,
    summary,
    next: required('Next'),
    parts: [{ subject, reads, select: body }],
  }
}

/** The checks of `sql/check`, in order of name. */
export const writtenChecks = (): Check[] => sqlFiles('check').map(readCheck)
