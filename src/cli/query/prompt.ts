/** Asks for one query after the other on a terminal, and prints each answer as a table. */
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { openForQuery } from '../../app/connection/warehouse.ts'
import { Interrupted, MusterError } from '../../lib/errors.ts'
import type { QuerySession } from '../../warehouse/query.ts'
import type { CommandContext } from '../context.ts'
import { describeFailure } from '../failure.ts'
import { completionsOf, type Names, namesIn, noNames } from './completion.ts'
import { mostKept, openHistory } from './history.ts'
import { printAnswerTable } from './print-answer.ts'

const rowsOfTable = 1000

const first = 'muster> '
const further = '   ...> '

const help = `A query ends with a semicolon, or with an empty line. Tab completes tables and columns, the arrow keys bring earlier
queries back, Ctrl-C stops a query, Ctrl-D or quit ends.
`

const leaving = new Set(['quit', 'exit', 'quit;', 'exit;', '\\q', '.quit', '.exit'])
const helping = new Set(['help', 'help;', '\\h', '\\?', '.help', '?'])

interface Terminal {
  readonly stdin: () => NodeJS.ReadStream
  readonly screen: NodeJS.WritableStream
}

/** Opened for each query: the file stays free for the sync of the night while nobody asks. */
async function asking<Result>(
  context: CommandContext,
  ask: (session: QuerySession) => Promise<Result>,
): Promise<Result> {
  const session = await openForQuery(context.stored(), context)
  try {
    return await ask(session)
  } finally {
    await session.close()
  }
}

class Prompt {
  readonly #context: CommandContext
  readonly #lines: Interface
  readonly #history
  /** The last one first; readline would keep each line of a query by itself. */
  readonly #queries: string[]
  #recalled: string[] = []
  #names: Names = noNames
  /** Lines of the query that is being typed. */
  #typed: string[] = []
  #running: AbortController | undefined
  #isLeft = false

  constructor(context: CommandContext, { stdin, screen }: Terminal) {
    this.#context = context
    this.#history = openHistory(context.env)
    this.#queries = [...this.#history.queries]
    this.#lines = createInterface({
      input: stdin(),
      output: screen,
      terminal: true,
      prompt: first,
      history: [...this.#queries],
      historySize: mostKept,
      removeHistoryDuplicates: true,
      completer: (text: string) => completionsOf(this.#typed.join(' '), text, this.#names),
    })
  }

  async run(): Promise<0> {
    const { stdout, signal } = this.#context
    const close = (): void => this.#lines.close()
    signal.addEventListener('abort', close, { once: true })
    this.#lines.on('SIGINT', () => this.#interrupt())
    this.#lines.on('history', recalled => {
      this.#recalled = recalled
      this.#recall()
    })
    stdout.write('muster sql reads only; help tells how.\n')
    const names = this.#learn()
    try {
      await this.#takeAll()
      return 0
    } finally {
      signal.removeEventListener('abort', close)
      close()
      await names
      stdout.write('\n')
    }
  }

  /** Resolves when the prompt is left; what is typed meanwhile waits for its turn. */
  async #takeAll(): Promise<void> {
    const lines = this.#lines
    const ended = once(lines, 'close')
    const failed = new AbortController()
    let turn = Promise.resolve()
    lines.on('line', line => {
      turn = turn.then(() => this.#next(line)).catch(error => failed.abort(error))
    })
    lines.prompt()
    await Promise.race([ended, once(failed.signal, 'abort')])
    await turn
    failed.signal.throwIfAborted()
  }

  async #next(line: string): Promise<void> {
    if (this.#isLeft) return
    if (this.#typed.length === 0 && leaving.has(line.trim())) {
      this.#isLeft = true
      this.#lines.close()
      return
    }
    await this.#take(line)
    this.#lines.setPrompt(this.#typed.length === 0 ? first : further)
    if (!this.#isLeft) this.#lines.prompt()
  }

  /** Completion is a comfort: a warehouse that cannot be read is told with the first query. */
  async #learn(): Promise<void> {
    try {
      this.#names = await asking({ ...this.#context, notice: () => undefined }, namesIn)
    } catch (error) {
      if (!(error instanceof MusterError)) throw error
    }
  }

  async #take(line: string): Promise<void> {
    const trimmed = line.trim()
    if (this.#typed.length === 0 && helping.has(trimmed)) {
      this.#context.stdout.write(help)
      return
    }
    if (trimmed !== '') this.#typed.push(line)
    const isWhole = trimmed === '' || trimmed.endsWith(';')
    if (!isWhole || this.#typed.length === 0) return
    const query = this.#typed.splice(0).join('\n')
    this.#remember(query.replace(/\s*\n\s*/g, ' '))
    await this.#answer(query)
  }

  #recall(): void {
    this.#recalled.splice(0, this.#recalled.length, ...this.#queries)
  }

  #remember(query: string): void {
    if (query !== this.#queries[0]) this.#queries.unshift(query)
    this.#queries.length = Math.min(this.#queries.length, mostKept)
    this.#history.add(query)
    this.#recall()
  }

  async #answer(query: string): Promise<void> {
    const { signal } = this.#context
    this.#running = new AbortController()
    const stop = AbortSignal.any([signal, this.#running.signal])
    try {
      const answer = await asking(this.#context, session => session.query(query, rowsOfTable, stop))
      printAnswerTable(this.#context, answer)
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell(error)
    } finally {
      this.#running = undefined
    }
  }

  #tell(error: unknown): void {
    const { globals, stderr, keyPlace } = this.#context
    // Ctrl-C is no signal to the program here.
    const { signal } = new AbortController()
    const { text } = describeFailure(error, { isVerbose: globals.verbose === true, signal, keyPlace })
    stderr.write(`${text.replace(/^muster: /, '')}\n`)
  }

  /** Stops the query that runs; else forgets what was typed. */
  #interrupt(): void {
    const lines = this.#lines
    if (this.#running) {
      this.#running.abort(new Interrupted({ what: 'the query was stopped' }))
      return
    }
    const isEmpty = this.#typed.length === 0 && lines.line === ''
    this.#typed = []
    this.#context.stdout.write(isEmpty ? '\nCtrl-D or quit ends\n' : '^C\n')
    lines.write(null, { ctrl: true, name: 'u' })
    lines.setPrompt(first)
    lines.prompt()
  }
}

export async function runPrompt(context: CommandContext, terminal: Terminal): Promise<0> {
  // A listener would not hear a signal that came before.
  context.signal.throwIfAborted()
  return new Prompt(context, terminal).run()
}
