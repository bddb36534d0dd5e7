/** A program with all that it started, ended at once as by a loss of power. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'

export interface Machine {
  hasEnded(): boolean
  /** Command lines of everything that runs on it. */
  running(): readonly string[]
  /** SIGKILL to all of it. */
  lose(): Promise<void>
  stop(): Promise<void>
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly line: string
}

function processes(): Process[] {
  const lines = execFileSync('ps', ['-e', '-ww', '-o', 'pid=,ppid=,args=']).toString().split('\n')
  return lines.flatMap(text => {
    const [, pid, parent, line] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(text) ?? []
    return line === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), line }]
  })
}

/** A process and those that it started, through others too. */
function treeOf(root: number): Process[] {
  const all = processes()
  const found = all.filter(({ pid }) => pid === root)
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one.pid))
  return found
}

const endOf = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')

function kill(found: readonly Process[]): void {
  for (const { pid } of found) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

export interface Start {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** File that takes what it prints. */
  readonly log: string
}

export function startMachine([file = '', ...args]: readonly string[], { env, cwd, log }: Start): Machine {
  const output = openSync(log, 'a')
  const child = spawn(file, args, { env, cwd, stdio: ['ignore', output, output] })
  const pid = child.pid ?? 0
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const lose = async (): Promise<void> => {
    if (!hasEnded()) kill(treeOf(pid))
    await endOf(child)
  }
  return {
    hasEnded,
    running: () => treeOf(pid).map(({ line }) => line),
    lose,
    async stop() {
      const started = treeOf(pid)
      child.kill('SIGTERM')
      await Promise.race([endOf(child), new Promise(resolve => setTimeout(resolve, 10_000).unref())])
      kill(processes().filter(one => started.some(other => other.pid === one.pid && other.line === one.line)))
      await endOf(child)
    },
  }
}
