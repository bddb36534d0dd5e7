/** Connections beside the main one, for parallel work: each has temporary tables of its own. */
import PQueue from 'p-queue'

interface PoolOptions<Connection> {
  readonly most: number
  /** Called when one more connection is needed for the first time. */
  open(): Promise<Connection>
  /** Called before the first connection is in use, and when none is any more. */
  setBusy(connection: Connection, isBusy: boolean): Promise<void>
}

export class ConnectionPool<Connection> {
  readonly #options: PoolOptions<Connection>
  readonly #queue: PQueue
  readonly #free: Connection[] = []
  #inUse = 0
  #switched: Promise<void> = Promise.resolve()

  constructor(options: PoolOptions<Connection>) {
    this.#options = options
    this.#queue = new PQueue({ concurrency: options.most })
  }

  /** One switch after the other, as new work may come while the last one is still leaving. */
  #switch(connection: Connection, isBusy: boolean): Promise<void> {
    this.#switched = this.#switched.then(() => this.#options.setBusy(connection, isBusy))
    return this.#switched
  }

  /**
   * Gives the work a connection that nobody else uses: first come, first served, as many at once as the pool has. Work that
   * no longer needs its connection gives it back with `release` before it ends.
   */
  async use<Result>(work: (connection: Connection, release: () => void) => Promise<Result>): Promise<Result> {
    let result: Promise<Result> | undefined
    const given = this.#queue.add(() =>
      this.#take(
        connection =>
          new Promise<void>(release => {
            result = work(connection, release)
            result.then(
              () => release(),
              () => release(),
            )
          }),
      ),
    )
    // Where both fail the work says why: what follows it fails for the same reason.
    await given.catch(async error => {
      await result
      throw error
    })
    return result as Promise<Result>
  }

  async #take(untilReleased: (connection: Connection) => Promise<void>): Promise<void> {
    const connection = this.#free.pop() ?? (await this.#options.open())
    this.#inUse += 1
    const isFirst = this.#inUse === 1
    try {
      if (isFirst) await this.#switch(connection, true)
      await untilReleased(connection)
    } finally {
      this.#inUse -= 1
      if (this.#inUse === 0) await this.#switch(connection, false)
      this.#free.push(connection)
    }
  }

  /** Runs the work while no connection is in use; who asks for one meanwhile waits until it has ended. */
  async alone(work: () => Promise<void>): Promise<void> {
    this.#queue.pause()
    try {
      await this.#queue.onPendingZero()
      await work()
    } finally {
      this.#queue.start()
    }
  }

  /** Waits until no connection is in use, and gives up those that were opened. */
  async drain(): Promise<readonly Connection[]> {
    await this.#queue.onIdle()
    return this.#free.splice(0)
  }
}
