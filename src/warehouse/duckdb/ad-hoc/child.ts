/** Ad hoc queries on a DuckDB file, in a process of their own that is killed when it exceeds its bounds. */
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
  TooLong,
  wholeAnswer,
} from '../../query.ts'
import { type Answer, errorOf, type Question } from './messages.ts'

/** Enough for the rows of an answer and the parsed text of a query. */
const heapMegabytes = 256

/** The built program, even where this one runs from its sources. With an empty environment: no query can find a key or a password in it. */
const start = (): ChildProcess =>
  fork(packageFile('dist/ad-hoc-process.js'), [], {
    env: {},
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    // A group of its own: Ctrl-C on a terminal reaches every process of the group, and the one that asks decides.
    detached: true,
  })

/** Why the process ended without an answer. Nobody but itself and the system kills it. */
function endError(signal: unknown, { memoryMegabytes }: QueryBounds): MusterError {
  if (signal === 'SIGKILL')
    return new MusterError({
      what: `the query needs more than ${memoryMegabytes} MB of memory and was stopped`,
      next: 'read fewer rows or columns, or raise queries.memoryMegabytes of the settings',
    })
  return new MusterError({ what: 'the query made DuckDB end', next: 'write it in another way' })
}

/** For starting the process and opening the file, which may have a log to read. */
const openSeconds = 120

class QueryProcess implements QuerySession {
  readonly #child = start()
  readonly #bounds: QueryBounds
  readonly #ended: Promise<unknown>

  constructor(bounds: QueryBounds) {
    this.#bounds = bounds
    this.#ended = once(this.#child, 'exit')
    // A message to a process that has ended; that it ended is what is reported.
    this.#child.on('error', () => undefined)
  }

  async #ask(question: Question, seconds: number, stop?: AbortSignal): Promise<QueryResult | null> {
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
      throw stop?.aborted ? stop.reason : new TooLong({ ...this.#bounds, seconds })
    } finally {
      // Both listeners go: one that waits for the end of the process would keep every answer in memory.
      answered.abort()
    }
  }

  async #answer(question: Question, signal: AbortSignal): Promise<Answer> {
    const child = this.#child
    if (child.connected) child.send(question)
    if (child.exitCode !== null || child.signalCode !== null) throw endError(child.signalCode, this.#bounds)
    const end = once(child, 'exit', { signal }).then(() => {
      throw endError(child.signalCode, this.#bounds)
    })
    const [message] = await Promise.race([once(child, 'message', { signal }), end])
    return message as Answer
  }

  /** Throws MusterError when the file cannot be opened. */
  async open(file: string): Promise<void> {
    await this.#ask({ file, bounds: this.#bounds }, openSeconds)
  }

  async query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult> {
    return firstOf(this.#results({ sql, cuts: wholeAnswer(limit, this.#bounds) }, stop))
  }

  pieces(sql: string, limit: number, stop?: AbortSignal): AsyncGenerator<QueryResult> {
    return this.#results({ sql, cuts: inPieces(limit, this.#bounds) }, stop)
  }

  async *#results(query: Question, stop?: AbortSignal): AsyncGenerator<QueryResult> {
    const { seconds } = this.#bounds
    for (let question: Question = query; ; question = 'next') {
      const result = await this.#ask(question, seconds, stop)
      if (!result) return
      yield result
    }
  }

  /** Waits for its end: only then is the file free for others. */
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
