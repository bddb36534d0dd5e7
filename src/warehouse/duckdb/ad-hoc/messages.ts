/** What the process of ad hoc queries and the one that started it say to each other. */
import { ConfigError, MusterError, type Report, UsageError } from '../../../lib/errors.ts'
import type { Cuts, QueryBounds, QueryResult } from '../../query.ts'
import { InUse, OutOfReach } from '../failure.ts'

/** The first message opens a file; every other one is a query on it, or asks for the next result of the last query. */
export type Question =
  | { readonly file: string; readonly bounds: QueryBounds }
  | { readonly sql: string; readonly cuts: Cuts }
  | 'next'

/** Null when the file is open, and after the last result. */
export type Answer = { readonly result: QueryResult | null } | { readonly failure: Failure }

/** The special before the general: the first that fits is the kind of an error. */
const classes = {
  config: ConfigError,
  usage: UsageError,
  inUse: InUse,
  outOfReach: OutOfReach,
  refused: MusterError,
}
type Kind = keyof typeof classes

/** An error in words, because classes do not survive the way from one process to the other. */
interface Failure {
  readonly kind: Kind | 'unexpected'
  readonly report: Report
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function failureOf(error: unknown): Failure {
  if (!(error instanceof MusterError)) return { kind: 'unexpected', report: { what: wordsOf(error) } }
  const { cause, ...report } = error.report
  const kinds = Object.keys(classes) as Kind[]
  const kind = kinds.find(one => error instanceof classes[one]) ?? 'refused'
  return { kind, report: { ...report, ...(cause !== undefined && { cause: wordsOf(cause) }) } }
}

export function errorOf({ kind, report }: Failure): Error {
  if (kind === 'unexpected') return new Error(report.what)
  const { cause, ...rest } = report
  return new classes[kind]({ ...rest, ...(cause !== undefined && { cause: new Error(String(cause)) }) })
}
