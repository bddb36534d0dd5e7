/** What one check of `muster doctor` found, and what to do about it. */
import { ConfigError, MusterError } from '../../lib/errors.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** What to do; absent when all is well. */
  readonly advice?: string
  /** Whether only an edit of settings or key helps: exit code 78. */
  readonly isConfiguration?: boolean
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

/** Errors of Muster bring their own advice; any other is a bug and goes on its way. */
export function failed(check: string, error: unknown): Finding {
  if (!(error instanceof MusterError)) throw error
  const { what, where, next = 'run again with --verbose' } = error.report
  const found = where ? `${what} (${where})` : what
  const isConfiguration = error instanceof ConfigError || error.exitCode === 78
  return { ...fail(check, found, next), ...(isConfiguration && { isConfiguration }) }
}
