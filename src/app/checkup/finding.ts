/** Builds the results of the checks of `muster doctor`, with advice. */
import { ConfigError, MusterError } from '../../lib/errors.ts'

export interface CheckupFinding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** What to do; absent when all is well. */
  readonly advice?: string
  /** Whether only a change of settings or key fixes it: exit code 78. */
  readonly isConfiguration?: boolean
  /** Whether it may pass by itself, as when another process has locked the warehouse: exit code 75. */
  readonly isPassing?: boolean
}

export const ok = (check: string, found: string): CheckupFinding => ({ check, state: 'ok', found })

export const warn = (check: string, found: string, advice: string): CheckupFinding => ({
  check,
  state: 'warn',
  found,
  advice,
})

export const fail = (check: string, found: string, advice: string): CheckupFinding => ({
  check,
  state: 'fail',
  found,
  advice,
})

/** Errors of Muster carry their own advice; any other error is a bug and is thrown again. */
export function failed(check: string, error: unknown): CheckupFinding {
  if (!(error instanceof MusterError)) throw error
  const { what, where, next = 'run again with --verbose' } = error.report
  const found = where ? `${what} (${where})` : what
  const isConfiguration = error instanceof ConfigError || error.exitCode === 78
  const isPassing = error.exitCode === 75
  return {
    ...fail(check, found, next),
    ...(isConfiguration && { isConfiguration }),
    ...(isPassing && { isPassing }),
  }
}
