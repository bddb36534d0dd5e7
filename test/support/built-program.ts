/** The built program as a process of its own, which can be stopped, continued and killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { atEndOfTest } from './ends.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const running = new Set<ChildProcess>()

atEndOfTest(() => {
  for (const child of running) child.kill('SIGKILL')
})

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** From the last signal that it got; 0 if it had ended by itself before. */
  readonly milliseconds: number
}

export interface Built {
  readonly pid: number
  /** To its stdin. */
  say(text: string): void
  /** What it has printed so far. */
  out(): string
  err(): string
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

export interface Where {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Whether stdin stays open. */
  readonly hasInput?: boolean
}

export function start(line: string, { cwd, env, hasInput = false }: Where): Built {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const child = spawn(process.execPath, [program, ...line.split(' ')], {
    cwd,
    env: { ...process.env, ...env },
    stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  // It may end before it has read everything.
  child.stdin?.on('error', () => undefined)
  let [out, err] = ['', '']
  let from: number | undefined
  child.stdout?.on('data', data => (out += data))
  child.stderr?.on('data', data => (err += data))
  return {
    pid: child.pid ?? 0,
    say: text => void child.stdin?.write(text),
    out: () => out,
    err: () => err,
    signal(name) {
      from = performance.now()
      child.kill(name)
    },
    ended: once(child, 'close').then(([code]) => {
      running.delete(child)
      return {
        code: code as number | null,
        out,
        err,
        milliseconds: from === undefined ? 0 : performance.now() - from,
      }
    }),
  }
}

/** Stops the process as soon as `sign` shows that it has come so far. */
export async function stopWhen(built: Built, sign: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(sign, { timeout: 30_000, interval: 2 }).toBe(true)
  built.signal('SIGSTOP')
}
