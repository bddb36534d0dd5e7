/**
 * The process of ad hoc queries. DuckDB cannot be interrupted in the middle of a function, and does not count all of the
 * memory that functions take: a process can be killed whatever it does.
 */
import type { QueryBounds, QueryResult } from '../../query.ts'
import { type Answer, failureOf, type Question } from './messages.ts'
import { type OpenFile, openFile } from './session.ts'

/** Milliseconds between two looks at the memory: DuckDB fills some 100 MB meanwhile. */
const watchMs = 25

const end = (): void => void process.kill(process.pid, 'SIGKILL')

function watchMemory({ memoryMegabytes }: QueryBounds): void {
  const most = memoryMegabytes * 1_048_576
  setInterval(() => {
    if (process.memoryUsage.rss() > most) end()
  }, watchMs)
}

let open: OpenFile | undefined
/** Of the last query. */
let answer: AsyncGenerator<QueryResult> | undefined

async function nextResult(): Promise<Answer> {
  const next = await answer?.next()
  return { result: next?.value ?? null }
}

async function answerTo(question: Question): Promise<Answer> {
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

process.on('message', async (question: Question) => {
  process.send?.(await answerTo(question))
})
// The process that asks has ended, or is done; DuckDB may still be at work.
process.on('disconnect', end)
// A service manager tells every process of the service to end: the one that asks decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
