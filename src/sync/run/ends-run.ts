/** Which errors end a whole run, and which only what they happened to. */
import { KeyRefused } from '../../api/client/errors.ts'
import { BudgetSpent, ConfigError, DiskFull } from '../../lib/errors.ts'

/** Whatever else the run asked for would meet with the same, or could not be kept. */
export const endsRun = (error: unknown): boolean =>
  [BudgetSpent, KeyRefused, ConfigError, DiskFull].some(reason => error instanceof reason)
