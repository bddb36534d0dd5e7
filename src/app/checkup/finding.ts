/** The result of one check of `muster doctor`, with advice. */
import { ConfigError, MusterError } from '../../lib/errors.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** What to do; absent when all is well. */
  readonly advice?: string
  /** Whether only a change of settings or key helps: exit code 78. */
  readonly isConfiguration?: boolean
  /** Whether it may be well by itself later, as when another process holds the warehouse: exit code 75. */
  readonly isPassing?: boolean
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found })

export const warn = (check: string, found: string, advice: string): Finding => ({
  check,
  state: 'warn',
  found,
  advice,
})

export const fail = (check: string, found: string, advice: string): Finding => ({
  check,
  state: 'fail',
  found,
  advice,
})

/** Errors of Muster carry their own advice; any other error is a bug and is thrown again. */
export function failed(check: string, error: unknown): Finding {
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
