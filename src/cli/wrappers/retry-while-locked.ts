/** Implements `--wait`: retries a command while another process has the warehouse locked, until the time is over. */
import { hourMs, minuteMs } from '../../lib/dates.ts'
import { Busy, type ExitStatus, type MusterError } from '../../lib/errors.ts'
import { FileInUse } from '../../warehouse/duckdb/failure.ts'
import type { CommandContext } from '../context.ts'
import { type Renderer, show, type TerminalOutput } from '../terminal/terminal.ts'

/** The pause doubles: most commands lock the warehouse for seconds, some for an hour. */
const firstPauseMs = 250
const longestPauseMs = 5_000

export const isLocked = (error: unknown): error is MusterError =>
  error instanceof FileInUse || error instanceof Busy

/** An attempt that finds the warehouse locked fails within this time of its first output, if it prints any. */
const maxLockedMs = 1_000

/**
 * Delays the output of an attempt, because a second attempt would print it again. An attempt that still runs after the delay
 * has the warehouse, and its output is shown.
 */
class DelayedOutput implements TerminalOutput {
  readonly #to: TerminalOutput
  readonly #mayWait: () => boolean
  #delayed: (() => unknown)[] = []
  #timer: NodeJS.Timeout | undefined
  #isShown = false

  constructor(to: TerminalOutput, mayWait: () => boolean) {
    this.#to = to
    this.#mayWait = mayWait
  }

  get isTTY(): boolean {
    return this.#to.isTTY === true
  }

  get columns(): number {
    return this.#to.columns ?? 80
  }

  write(text: string): unknown {
    return this.#put(() => this.#to.write(text))
  }

  show(render: Renderer): unknown {
    return this.#put(() => show(this.#to, render))
  }

  styled(text: string): unknown {
    return this.#put(() => (this.#to.styled ? this.#to.styled(text) : this.#to.write(text)))
  }

  /** Does not wait for delayed output, which is small. */
  async drained(): Promise<void> {
    await this.#to.drained?.()
  }

  #put(write: () => unknown): unknown {
    if (this.#isShown || !this.#mayWait()) return write()
    this.#timer ??= setTimeout(() => this.flush(), maxLockedMs)
    return this.#delayed.push(write)
  }

  /** Discards the output of a failed attempt. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#delayed = []
    this.#isShown = false
  }

  flush(): void {
    for (const write of this.#delayed) write()
    this.drop()
    this.#isShown = true
  }
}

const spanOf = (ms: number): string =>
  ms >= hourMs
    ? `${Math.round(ms / hourMs)} h`
    : ms >= minuteMs
      ? `${Math.round(ms / minuteMs)} min`
      : `${Math.ceil(ms / 1000)} s`

/** Throws what the last attempt threw: a lock that outlasted the wait ends with 75, and names its holder. */
export async function retryWhileLocked(
  context: CommandContext,
  attempt: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { clock, signal } = context
  const startedAt = clock.now()
  const stdout = new DelayedOutput(context.stdout, () => context.waitMs() > 0)
  const leftMs = (): number => startedAt + context.waitMs() - clock.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      const status = await attempt({ ...context, stdout })
      stdout.flush()
      return status
    } catch (error) {
      if (!isLocked(error) || leftMs() <= 0 || signal.aborted) {
        stdout.flush()
        throw error
      }
      stdout.drop()
      if (pauseMs === firstPauseMs)
        context.notice(`${error.report.what}: waiting up to ${spanOf(leftMs())} for it`)
      await clock.sleep(Math.min(pauseMs, Math.max(leftMs(), 1)), signal)
    }
  }
}
