/** What a command ends with. */
import type { ExitCode } from '../lib/errors.ts'

/** 0 done; the others as in `lib/errors.ts`. */
export type ExitStatus = 0 | ExitCode
