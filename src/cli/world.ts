/** Gives a command its environment: streams, variables, time, randomness and the signal to stop. */
import { type Environment, readEnvironment } from '../config/environment.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { namedRng, type Rng } from '../lib/rng.ts'
import { systemStreams, type TerminalOutput } from './terminal/terminal.ts'

export interface ProcessIo {
  readonly env: Environment
  readonly cwd: string
  /** The command that started the program, for exported schedules. */
  readonly startedAs: readonly string[]
  /** Undefined if there is no input. */
  readonly stdin?: () => NodeJS.ReadStream
  /** The terminal, for questions and displays that redraw their own lines; undefined if stdout is not a terminal. */
  readonly screen?: NodeJS.WritableStream
  readonly stdout: TerminalOutput
  readonly stderr: TerminalOutput
  readonly clock: Clock
  /** For jitter only. */
  readonly rng: Rng
  /** Aborted by a signal to stop. */
  readonly signal: AbortSignal
  /** Runs as a task of a DAG, which notifies once at its end. */
  readonly isTask?: boolean
}

export function systemWorld(signal: AbortSignal): ProcessIo {
  return {
    env: readEnvironment(),
    cwd: process.cwd(),
    startedAs: [process.execPath, process.argv[1] ?? ''],
    ...systemStreams(),
    clock: systemClock,
    rng: namedRng(systemClock.now(), String(process.pid)),
    signal,
  }
}
