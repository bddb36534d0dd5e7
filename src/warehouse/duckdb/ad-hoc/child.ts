/** Runs ad hoc queries on a DuckDB file in a child process, which is killed when it exceeds its bounds. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { MusterError } from '../../../lib/errors.ts'
import { packageFile } from '../../../lib/package.ts'
import {
  firstOf,
  inPieces,
  type QueryBounds,
  type QueryResult,
  type QuerySession,
  QueryTooLong,
  uncutAnswer,
} from '../../query.ts'
import { errorOf, type QueryAnswer, type QueryMessage } from './messages.ts'

/** Enough for the rows of a result and a parsed query. */
const heapMegabytes = 256

/** Starts the built program, even when running from sources. Its environment is empty, so queries find no key or password. */
const start = (): ChildProcess =>
  fork(packageFile('dist/ad-hoc-process.js'), [], {
    env: {},
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    // A process group of its own: Ctrl-C reaches every process of a group, but the parent decides when to stop.
    detached: true,
  })

/** Explains why the process ended without an answer: only itself and the system kill it. */
function endError(signal: unknown, { memoryMegabytes }: QueryBounds): MusterError {
  if (signal === 'SIGKILL')
    return new MusterError({
      what: `the query needs more than ${memoryMegabytes} MB of memory and was stopped`,
      next: 'read fewer rows or columns, or raise queries.memoryMegabytes of the settings',
    })
  return new MusterError({ what: 'the query crashed DuckDB', next: 'write it in another way' })
}

/** Time to start the process and open the file, which may have a log to replay. */
const openSeconds = 120

class QueryProcess implements QuerySession {
  readonly #child = start()
  readonly #bounds: QueryBounds
  readonly #ended: Promise<unknown>

  constructor(bounds: QueryBounds) {
    this.#bounds = bounds
    this.#ended = once(this.#child, 'exit')
    // Sending to an ended process fails too; its end is what gets reported.
    this.#child.on('error', () => undefined)
  }

  async #ask(question: QueryMessage, seconds: number, stop?: AbortSignal): Promise<QueryResult | null> {
    const late = AbortSignal.timeout(seconds * 1000)
    const answered = new AbortController()
    const signal = AbortSignal.any([late, answered.signal, ...(stop ? [stop] : [])])
    try {
      const answer = await this.#answer(question, signal)
      if ('failure' in answer) throw errorOf(answer.failure)
      return answer.result
    } catch (error) {
      if (!(late.aborted || stop?.aborted)) throw error
      await this.close()
      throw stop?.aborted ? stop.reason : new QueryTooLong({ ...this.#bounds, seconds })
    } finally {
      // Removes both listeners: one that waits for the end of the process would keep every answer in memory.
      answered.abort()
    }
  }

  async #answer(question: QueryMessage, signal: AbortSignal): Promise<QueryAnswer> {
    const child = this.#child
    if (child.connected) child.send(question)
    if (child.exitCode !== null || child.signalCode !== null) throw endError(child.signalCode, this.#bounds)
    const end = once(child, 'exit', { signal }).then(() => {
      throw endError(child.signalCode, this.#bounds)
    })
    const [message] = await Promise.race([once(child, 'message', { signal }), end])
    return message as QueryAnswer
  }

  /** Throws MusterError when the file cannot be opened. */
  async open(file: string): Promise<void> {
    await this.#ask({ file, bounds: this.#bounds }, openSeconds)
  }

  async query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult> {
    return firstOf(this.#results({ sql, cuts: uncutAnswer(limit, this.#bounds) }, stop))
  }

  pieces(sql: string, limit: number, stop?: AbortSignal): AsyncGenerator<QueryResult> {
    return this.#results({ sql, cuts: inPieces(limit, this.#bounds) }, stop)
  }

  async *#results(query: QueryMessage, stop?: AbortSignal): AsyncGenerator<QueryResult> {
    const { seconds } = this.#bounds
    for (let question: QueryMessage = query; ; question = 'next') {
      const result = await this.#ask(question, seconds, stop)
      if (!result) return
      yield result
    }
  }

  /** Waits for the process to end: only then can others open the file. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/** Throws MusterError when the file cannot be opened. */
export async function openQuery(file: string, bounds: QueryBounds): Promise<QuerySession> {
  const session = new QueryProcess(bounds)
  try {
    await session.open(file)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}
