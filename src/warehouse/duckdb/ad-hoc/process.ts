/**
 * Runs ad hoc queries in a process that can be killed at any time: DuckDB cannot be interrupted within a function, and does
 * not count all memory that functions take.
 */
import type { QueryBounds, QueryResult } from '../../query.ts'
import { failureOf, type QueryAnswer, type QueryMessage } from './messages.ts'
import { type OpenFile, openFile } from './session.ts'

/** Milliseconds between two checks of the memory; DuckDB fills some 100 MB in that time. */
const watchMs = 25

const end = (): void => void process.kill(process.pid, 'SIGKILL')

function watchMemory({ memoryMegabytes }: QueryBounds): void {
  const maxBytes = memoryMegabytes * 1_048_576
  setInterval(() => {
    if (process.memoryUsage.rss() > maxBytes) end()
  }, watchMs)
}

let open: OpenFile | undefined
/** Results of the last query. */
let answer: AsyncGenerator<QueryResult> | undefined

async function nextResult(): Promise<QueryAnswer> {
  const next = await answer?.next()
  return { result: next?.value ?? null }
}

async function answerTo(question: QueryMessage): Promise<QueryAnswer> {
  try {
    if (question === 'next') return await nextResult()
    if ('sql' in question) {
      await answer?.return(undefined)
      answer = open?.results(question.sql, question.cuts)
      return await nextResult()
    }
    watchMemory(question.bounds)
    open = await openFile(question)
    return { result: null }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

process.on('message', async (question: QueryMessage) => {
  process.send?.(await answerTo(question))
})
// The parent has ended, or is done; DuckDB may still be busy.
process.on('disconnect', end)
// Ignored: a service manager signals every process of the service, but the parent decides when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
