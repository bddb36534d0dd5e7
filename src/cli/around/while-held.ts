/** `--wait`: a command that finds the warehouse held by another process tries again until it is free or the time is over. */
import { hourMs, minuteMs } from '../../lib/dates.ts'
import { Busy, type ExitStatus, type MusterError } from '../../lib/errors.ts'
import { InUse } from '../../warehouse/duckdb/failure.ts'
import type { CommandContext } from '../context.ts'
import { type Output, type Rendered, show } from '../terminal/terminal.ts'

/** Short at first, as most commands hold the warehouse for seconds; then easy on a file that is held for an hour. */
const firstPauseMs = 250
const longestPauseMs = 5_000

export const isHeld = (error: unknown): error is MusterError =>
  error instanceof InUse || error instanceof Busy

/** An attempt that finds the warehouse held fails at once after it has printed something, or prints nothing. */
const longestHeldMs = 1_000

/**
 * Keeps what an attempt prints for a moment: a second attempt would print it again. What is still going on then is an attempt
 * that counts, such as a server.
 */
class Held implements Output {
  readonly #to: Output
  readonly #mayWait: () => boolean
  #kept: (() => unknown)[] = []
  #timer: NodeJS.Timeout | undefined
  #isShown = false

  constructor(to: Output, mayWait: () => boolean) {
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

  show(render: Rendered): unknown {
    return this.#put(() => show(this.#to, render))
  }

  styled(text: string): unknown {
    return this.#put(() => (this.#to.styled ? this.#to.styled(text) : this.#to.write(text)))
  }

  /** What is kept for a moment is little. */
  async drained(): Promise<void> {
    await this.#to.drained?.()
  }

  #put(write: () => unknown): unknown {
    if (this.#isShown || !this.#mayWait()) return write()
    this.#timer ??= setTimeout(() => this.flush(), longestHeldMs)
    return this.#kept.push(write)
  }

  /** Before another attempt. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#kept = []
    this.#isShown = false
  }

  flush(): void {
    for (const write of this.#kept) write()
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
export async function whileHeld(
  context: CommandContext,
  attempt: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { clock, signal } = context
  const startedAt = clock.now()
  const stdout = new Held(context.stdout, () => context.waitMs() > 0)
  const leftMs = (): number => startedAt + context.waitMs() - clock.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      const status = await attempt({ ...context, stdout })
      stdout.flush()
      return status
    } catch (error) {
      if (!isHeld(error) || leftMs() <= 0 || signal.aborted) {
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
