/** Defines the messages between the process of ad hoc queries and its parent. */
import { ConfigError, MusterError, type Report, UsageError } from '../../../lib/errors.ts'
import type { Cuts, QueryBounds, QueryResult } from '../../query.ts'
import { FileInUse, FileOutOfReach } from '../failure.ts'

/** The first message opens a file; later ones run a query on it, or request the next result of the last query. */
export type QueryMessage =
  | { readonly file: string; readonly bounds: QueryBounds }
  | { readonly sql: string; readonly cuts: Cuts }
  | 'next'

/** Null once the file is open, and after the last result. */
export type QueryAnswer = { readonly result: QueryResult | null } | { readonly failure: QueryFailure }

/** Subclasses come first: the first match is the class of an error. */
const classes = {
  config: ConfigError,
  usage: UsageError,
  inUse: FileInUse,
  outOfReach: FileOutOfReach,
  refused: MusterError,
}
type ErrorKind = keyof typeof classes

/** An error as plain data, because messages between processes lose classes. */
interface QueryFailure {
  readonly kind: ErrorKind | 'unexpected'
  readonly report: Report
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function failureOf(error: unknown): QueryFailure {
  if (!(error instanceof MusterError)) return { kind: 'unexpected', report: { what: wordsOf(error) } }
  const { cause, ...report } = error.report
  const kinds = Object.keys(classes) as ErrorKind[]
  const kind = kinds.find(one => error instanceof classes[one]) ?? 'refused'
  return { kind, report: { ...report, ...(cause !== undefined && { cause: wordsOf(cause) }) } }
}

export function errorOf({ kind, report }: QueryFailure): Error {
  if (kind === 'unexpected') return new Error(report.what)
  const { cause, ...rest } = report
  return new classes[kind]({ ...rest, ...(cause !== undefined && { cause: new Error(String(cause)) }) })
}
