/** Whether the rows of a failed statement may be the reason, or only the machine, the server or the session. */
import { MusterError } from '../lib/errors.ts'

/** Data exceptions, violated constraints, limits of the program such as the size of an index row, and internal errors. */
const ofRows = /^(22|23|54|XX)/

/** As DuckDB begins its messages. */
const ofSurroundings = /^(IO|Connection|TransactionContext|Permission|Out of Memory|INTERRUPT|FATAL) ?Error/i

/** Failures that have a line of their own for the user are never due to rows. */
export function mayBeDueToRows(error: unknown): boolean {
  if (error instanceof MusterError || !(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return ofRows.test(code)
  return !ofSurroundings.test(error.message)
}
