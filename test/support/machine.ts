/** A machine with a home of its own: the built program as processes in it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Ended {
  /** Null when it was killed. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface Machine {
  readonly home: string
  start(line: string | readonly string[], env?: Readonly<Record<string, string>>): Running
  run(line: string | readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
  /** Everything in its home. */
  files(): string[]
}

/** `env` has the service, the warehouse, the landing and the bucket. */
export function machine(env: Readonly<Record<string, string>>): Machine {
  const home = mkdtempSync(join(tmpdir(), 'muster-machine-'))
  const { PATH = '', TMPDIR = '' } = process.env
  const start = (line: string | readonly string[], more: Readonly<Record<string, string>> = {}): Running => {
    const words = typeof line === 'string' ? line.split(' ') : line
    const child = spawn(process.execPath, [program, ...words], {
      cwd: home,
      env: { PATH, TMPDIR, HOME: home, MUSTER_API_KEY: sandboxKeys.company, ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const texts = { out: '', err: '' }
    child.stdout.on('data', data => {
      texts.out += data
    })
    child.stderr.on('data', data => {
      texts.err += data
    })
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }))
    return { child, ended }
  }
  return {
    home,
    start,
    run: (line, more) => start(line, more).ended,
    files: () => readdirSync(home, { recursive: true }).map(String).sort(),
  }
}
