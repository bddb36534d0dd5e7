/** Asks for one query after the other on a terminal, and prints each answer as a table. */
import { createInterface, type Interface } from 'node:readline'
import { openForQuery } from '../../app/connection/warehouse.ts'
import { Interrupted } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import { describeFailure } from '../failure.ts'
import { maxHistory, readHistory, writeHistory } from './history.ts'
import { printAnswerTable } from './print-answer.ts'

const rowsOfTable = 1000

const first = 'muster> '
const further = '   ...> '

const help = `A query ends with a semicolon, or with an empty line. The arrow keys bring earlier lines back, Ctrl-C stops a query,
Ctrl-D or quit ends.
`

const leaving = /^(quit|exit|\\q|\.quit|\.exit);?$/
const helping = /^(help|\\h|\\\?|\.help|\?);?$/

interface Terminal {
  readonly stdin: () => NodeJS.ReadStream
  readonly screen: NodeJS.WritableStream
}

class Prompt {
  readonly #context: CommandContext
  readonly #lines: Interface
  /** Lines of the query that is being typed. */
  #typed: string[] = []
  /** Lines of it that are in the history. */
  #entered = 0
  #running: AbortController | undefined

  constructor(context: CommandContext, { stdin, screen }: Terminal) {
    this.#context = context
    this.#lines = createInterface({
      input: stdin(),
      output: screen,
      terminal: true,
      prompt: first,
      history: readHistory(context.env),
      historySize: maxHistory,
      removeHistoryDuplicates: true,
    })
  }

  async run(): Promise<0> {
    const { stdout, signal, env } = this.#context
    const close = (): void => this.#lines.close()
    signal.addEventListener('abort', close, { once: true })
    this.#lines.on('SIGINT', () => this.#interrupt())
    this.#lines.on('history', lines => writeHistory(env, this.#joined(lines)))
    stdout.write('muster sql reads only; help tells how.\n')
    this.#lines.prompt()
    try {
      for await (const line of this.#lines) {
        if (this.#typed.length === 0 && leaving.test(line.trim())) break
        await this.#take(line)
        this.#lines.setPrompt(this.#typed.length === 0 ? first : further)
        this.#lines.prompt()
      }
      return 0
    } finally {
      signal.removeEventListener('abort', close)
      close()
      stdout.write('\n')
    }
  }

  /** A query of several lines becomes one line of the history, which readline lets its listener change. */
  #joined(history: string[]): readonly string[] {
    const newest = history[0]?.trim() ?? ''
    if (this.#entered === 0 && (leaving.test(newest) || helping.test(newest))) return history
    this.#entered += 1
    if (!newest.endsWith(';')) return history
    const query = history.slice(0, this.#entered).toReversed()
    history.splice(0, this.#entered, query.map(line => line.trim()).join(' '))
    this.#entered = 0
    return history
  }

  async #take(line: string): Promise<void> {
    const trimmed = line.trim()
    if (this.#typed.length === 0 && helping.test(trimmed)) {
      this.#context.stdout.write(help)
      return
    }
    if (trimmed !== '') this.#typed.push(line)
    const isWhole = trimmed === '' || trimmed.endsWith(';')
    if (isWhole && this.#typed.length > 0) await this.#answer(this.#typed.splice(0).join('\n'))
  }

  /** Opened for each query: the file stays free for the sync of the night while nobody asks. */
  async #answer(query: string): Promise<void> {
    const { signal } = this.#context
    this.#running = new AbortController()
    try {
      const session = await openForQuery(this.#context.stored(), this.#context)
      try {
        const stop = AbortSignal.any([signal, this.#running.signal])
        printAnswerTable(this.#context, await session.query(query, rowsOfTable, stop))
      } finally {
        await session.close()
      }
    } catch (error) {
      if (signal.aborted) throw error
      this.#report(error)
    } finally {
      this.#running = undefined
    }
  }

  #report(error: unknown): void {
    const { globals, stderr, keyPlace } = this.#context
    // Ctrl-C is no signal to the program here.
    const { signal } = new AbortController()
    const { text } = describeFailure(error, { isVerbose: globals.verbose === true, signal, keyPlace })
    stderr.write(`${text.replace(/^muster: /, '')}\n`)
  }

  /** Stops the query that runs; else forgets what was typed. */
  #interrupt(): void {
    if (this.#running) {
      this.#running.abort(new Interrupted({ what: 'the query was stopped' }))
      return
    }
    const isEmpty = this.#typed.length === 0 && this.#lines.line === ''
    this.#typed = []
    this.#entered = 0
    this.#context.stdout.write(isEmpty ? '\nCtrl-D or quit ends\n' : '^C\n')
    this.#lines.write(null, { ctrl: true, name: 'u' })
    this.#lines.setPrompt(first)
    this.#lines.prompt()
  }
}

export async function runPrompt(context: CommandContext, terminal: Terminal): Promise<0> {
  // A listener would not hear a signal that came before.
  context.signal.throwIfAborted()
  return new Prompt(context, terminal).run()
}
