/**
 * Reads a check: statements that return wrong rows, with a severity and what to do about them. Also holds what the
 * checks derived from the declarations share.
 */
import { basename } from 'node:path'
import { type PhysicalTable, physicalTables } from '../../warehouse/schema/physical.ts'
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { type SqlFile, sqlFiles } from '../../warehouse/sql-files.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { namesOf, readHeader } from '../header.ts'

export type Severity = 'error' | 'warn'

/** One statement of a check. */
export interface CheckPart {
  /** The table it checks, with its schema; null where the column `subject` gives it for each row. */
  readonly subject: string | null
  /** Tables that the statement reads, with their schema. */
  readonly reads: readonly string[]
  /** The first column identifies the wrong row and is never personal. Tokens as in a mart, and `:now`. */
  readonly select: string
  /** A cheaper condition: if it is false, the statement returns nothing. Used where patterns are slow. */
  readonly precondition?: string
}

export interface Check {
  readonly name: string
  readonly severity: Severity
  /** What must hold. */
  readonly summary: string
  /** What to do about the rows. */
  readonly next: string
  readonly parts: readonly CheckPart[]
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

const isHistory = ({ schema, name }: PhysicalTable): boolean =>
  schema === 'history' || name.endsWith('_history')

/** Tables of star and pii without their histories. */
export const currentTables: readonly PhysicalTable[] = physicalTables.filter(table => !isHistory(table))

/** `also`: other tables that the statement reads. */
export function part(table: string, select: string, also: readonly string[] = []): CheckPart {
  return { subject: table, reads: [table, ...also], select }
}

export const quoted = (table: string): string => {
  const [schema = '', name = ''] = table.split('.')
  return `${schema}.${quoteName(name)}`
}

/** Joins the statements about one table into one. */
export function byTable(parts: readonly CheckPart[]): CheckPart[] {
  const subjects = [...new Set(parts.map(({ subject }) => subject))]
  return subjects.map(subject => {
    const own = parts.filter(one => one.subject === subject)
    return {
      subject,
      reads: [...new Set(own.flatMap(({ reads }) => reads))],
      select: own.map(({ select }) => select).join('\nunion all\n'),
    }
  })
}
