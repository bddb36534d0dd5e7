/** Decides whether rows may have made a statement fail, rather than the machine, the server or the session. */
import { MusterError } from '../lib/errors.ts'

/** Data exceptions, violated constraints, program limits such as the size of an index row, and internal errors. */
const ofRows = /^(22|23|54|XX)/

/** How DuckDB's messages begin. */
const ofSurroundings = /^(IO|Connection|TransactionContext|Permission|Out of Memory|INTERRUPT|FATAL) ?Error/i

/** Failures with their own message for the user are never due to rows. */
export function mayBeDueToRows(error: unknown): boolean {
  if (error instanceof MusterError || !(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return ofRows.test(code)
  return !ofSurroundings.test(error.message)
}
