/** The queries that were typed before, in a file that only its user reads: texts in them may be personal. */
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Environment, variable } from '../../config/environment.ts'
import { readInputText } from '../../lib/input-file.ts'

export const mostKept = 1000
const mostBytes = 16 * 1_048_576

/** Where there is no home, nothing is kept. */
function fileIn(env: Environment): string | undefined {
  const home = variable(env, 'HOME')
  const states = variable(env, 'XDG_STATE_HOME') ?? (home && join(home, '.local', 'state'))
  return states && join(states, 'muster', 'sql-history')
}

export interface History {
  /** The last one first, each in one line. */
  readonly queries: readonly string[]
  add(query: string): void
}

/** A prompt without history is better than none: what cannot be read or written is left. */
function attempted(work: () => void): void {
  try {
    work()
  } catch {
    // Such as a home that is read-only.
  }
}

export function openHistory(env: Environment): History {
  const file = fileIn(env)
  const text = file === undefined ? '' : readInputText(file, { mostBytes })
  const kept = typeof text === 'string' ? text.split('\n').filter(Boolean).slice(-mostKept) : []
  if (file !== undefined)
    attempted(() => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, kept.map(line => `${line}\n`).join(''), { mode: 0o600 })
      chmodSync(file, 0o600)
    })
  return {
    queries: kept.toReversed(),
    add(query) {
      if (file !== undefined) attempted(() => appendFileSync(file, `${query}\n`, { mode: 0o600 }))
    },
  }
}
