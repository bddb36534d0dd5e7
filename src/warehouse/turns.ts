/** One connection shared by many callers: statements one at a time, exclusive blocks, and transactions. */
import PQueue from 'p-queue'

/** Short work overtakes queued long work: reading pages waits for one merge at most, not for all of them. */
export type Priority = 'short' | 'long'

const priorities: Readonly<Record<Priority, number>> = { short: 1, long: 0 }

export interface Turns {
  /** Runs the work when its turn comes and nothing else until it ends; `turns` within the work belong to it alone. */
  exclusive<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result>
  /** One statement. If it fails inside a transaction, that transaction cannot commit. */
  statement<Result>(work: () => Promise<Result>): Promise<Result>
  transaction<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result>
}

interface Control {
  begin(): Promise<unknown>
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
}

/** The turns within a block: the connection is its own, so nothing waits. */
class Turn implements Turns {
  readonly #control: Control
  #hasEnded = false
  #failure: { readonly error: unknown } | undefined

  constructor(control: Control) {
    this.#control = control
  }

  end(): void {
    this.#hasEnded = true
  }

  #requireOpen(): void {
    if (this.#hasEnded) throw new Error('a statement came on the connection of a block that has ended')
  }

  async exclusive<Result>(work: (turns: Turns) => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    return work(this)
  }

  async statement<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    try {
      return await work()
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }

  async transaction<Result>(work: (turns: Turns) => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    const { begin, commit, rollback } = this.#control
    this.#failure = undefined
    await begin()
    try {
      const result = await work(this)
      // Both engines answer COMMIT after a failed statement with a silent rollback.
      this.#throwFailure()
      await commit()
      return result
    } catch (error) {
      // A failed COMMIT has already ended the transaction, so this may fail as well; the first error is the one to report.
      await rollback().catch(() => undefined)
      throw error
    } finally {
      this.#failure = undefined
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }
}

/** The turns of one connection. */
export class ConnectionTurns implements Turns {
  readonly #control: Control
  readonly #queue = new PQueue({ concurrency: 1 })

  constructor(control: Control) {
    this.#control = control
  }

  exclusive<Result>(work: (turns: Turns) => Promise<Result>, priority: Priority = 'short'): Promise<Result> {
    const turn = new Turn(this.#control)
    return this.#queue.add(() => work(turn).finally(() => turn.end()), { priority: priorities[priority] })
  }

  statement<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.exclusive(turns => turns.statement(work))
  }

  transaction<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result> {
    return this.exclusive(turns => turns.transaction(work), priority)
  }

  onIdle(): Promise<void> {
    return this.#queue.onIdle()
  }
}
