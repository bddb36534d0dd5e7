/** The lines that were typed into the SQL prompt, in a file that only its user reads: texts in them may be personal. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Environment, variable } from '../../config/environment.ts'
import { readInputText } from '../../lib/input-file.ts'

export const maxHistory = 1000
const maxBytes = 16 * 1_048_576

/** Undefined where there is no home: nothing is kept then. */
function fileIn(env: Environment): string | undefined {
  const home = variable(env, 'HOME')
  const states = variable(env, 'XDG_STATE_HOME') ?? (home && join(home, '.local', 'state'))
  return states && join(states, 'muster', 'sql-history')
}

/** The last line first, as readline has them. */
export function readHistory(env: Environment): string[] {
  const file = fileIn(env)
  const text = file === undefined ? '' : readInputText(file, { mostBytes: maxBytes })
  return typeof text === 'string' ? text.split('\n').filter(Boolean).slice(-maxHistory).toReversed() : []
}

/** A prompt without history is better than none: a home that is read-only is left alone. */
export function writeHistory(env: Environment, lines: readonly string[]): void {
  const file = fileIn(env)
  if (file === undefined) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(
      file,
      lines
        .toReversed()
        .map(line => `${line}\n`)
        .join(''),
      { mode: 0o600 },
    )
  } catch {
    // The next line tries again.
  }
}
