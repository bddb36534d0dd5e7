/** Runs the command of `notify`, with the message on stdin and in variables. Kills it and its children when time is up. */
import { spawn } from 'node:child_process'

export interface Notifier {
  readonly command: string
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Kills the command when aborted. */
  readonly signal: AbortSignal
}

/** Returns undefined if the command ended with 0, otherwise why not. */
export function runNotifier(
  { command, timeoutMs, cwd, env, signal: stop }: Notifier,
  message: string,
): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    let isLate = false
    const kill = (): void => {
      isLate = true
      // Kills the process group: a shell does not pass signals on to its children.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
    const timer = setTimeout(kill, timeoutMs)
    stop.addEventListener('abort', kill, { once: true })
    const end = (why: string | undefined): void => {
      clearTimeout(timer)
      stop.removeEventListener('abort', kill)
      resolve(why)
    }
    child.on('error', error => end(error.message))
    child.on('exit', (code, signal) => {
      if (stop.aborted) end('muster was stopped')
      else if (isLate) end(`it did not finish within ${timeoutMs / 1000} s`)
      else if (code === 0) end(undefined)
      else end(`it ended with ${code === null ? String(signal) : `exit code ${code}`}`)
    })
    // A command that does not read its input closes the pipe.
    child.stdin.on('error', () => undefined)
    child.stdin.end(`${message}\n`)
  })
}
