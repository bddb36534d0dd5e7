/** Prompts for queries on a terminal, prints each answer as a table, and keeps a history of the lines. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { openForQuery } from '../app/connection/warehouse.ts'
import { type Environment, variable } from '../config/environment.ts'
import { StatementInterrupted } from '../lib/errors.ts'
import { readInputText } from '../lib/input-file.ts'
import type { CommandContext } from './context.ts'
import { describeFailure } from './failure.ts'
import { printAnswerTable } from './print-answer.ts'

const maxHistoryLines = 1000
const maxHistoryBytes = 16 * 1_048_576

/** Undefined without a home folder: then no history is kept. */
function historyFile(env: Environment): string | undefined {
  const home = variable(env, 'HOME')
  const states = variable(env, 'XDG_STATE_HOME') ?? (home && join(home, '.local', 'state'))
  return states && join(states, 'muster', 'sql-history')
}

/** Newest line first, as readline expects. */
function readHistory(env: Environment): string[] {
  const file = historyFile(env)
  const text = file === undefined ? '' : readInputText(file, { maxBytes: maxHistoryBytes })
  return typeof text === 'string' ? text.split('\n').filter(Boolean).slice(-maxHistoryLines).toReversed() : []
}

/**
 * Writes the history so that only the user can read it: queries may contain personal data. Ignores a read-only home: the prompt
 * works without a history.
 */
function writeHistory(env: Environment, lines: readonly string[]): void {
  const file = historyFile(env)
  if (file === undefined) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(
      file,
      lines
        .toReversed()
        .map(line => `${line}\n`)
        .join(''),
      { mode: 0o600 },
    )
  } catch {
    // Tried again with the next line.
  }
}

const rowsOfTable = 1000

const first = 'muster> '
const further = '   ...> '

const help = `End a query with a semicolon or an empty line. The arrow keys bring earlier lines back.
Ctrl-C stops a query; Ctrl-D or quit leaves.
`

const leaving = /^(quit|exit|\\q|\.quit|\.exit);?$/
const helping = /^(help|\\h|\\\?|\.help|\?);?$/

interface PromptTerminal {
  readonly stdin: () => NodeJS.ReadStream
  readonly screen: NodeJS.WritableStream
}

class Prompt {
  readonly #context: CommandContext
  readonly #lines: Interface
  /** Lines of the query that is being typed. */
  #typed: string[] = []
  /** How many of its lines are in the history. */
  #entered = 0
  #running: AbortController | undefined

  constructor(context: CommandContext, { stdin, screen }: PromptTerminal) {
    this.#context = context
    this.#lines = createInterface({
      input: stdin(),
      output: screen,
      terminal: true,
      prompt: first,
      history: readHistory(context.env),
      historySize: maxHistoryLines,
      removeHistoryDuplicates: true,
    })
  }

  async run(): Promise<0> {
    const { stdout, signal, env } = this.#context
    const close = (): void => this.#lines.close()
    signal.addEventListener('abort', close, { once: true })
    this.#lines.on('SIGINT', () => this.#interrupt())
    this.#lines.on('history', lines => writeHistory(env, this.#joined(lines)))
    stdout.write('muster sql is read-only; type help for help.\n')
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

  /** Joins the lines of a query into one history line; readline lets its listener change the history. */
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
    const isComplete = trimmed === '' || trimmed.endsWith(';')
    if (isComplete && this.#typed.length > 0) await this.#answer(this.#typed.splice(0).join('\n'))
  }

  /** Opens the file for each query, so that a sync can have it between queries. */
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
    // Ctrl-C stops the query here, not the program.
    const { signal } = new AbortController()
    const { text } = describeFailure(error, { isVerbose: globals.verbose === true, signal, keyPlace })
    stderr.write(`${text.replace(/^muster: /, '')}\n`)
  }

  /** Stops the running query, or discards what was typed. */
  #interrupt(): void {
    if (this.#running) {
      this.#running.abort(new StatementInterrupted({ what: 'the query was stopped' }))
      return
    }
    const isEmpty = this.#typed.length === 0 && this.#lines.line === ''
    this.#typed = []
    this.#entered = 0
    this.#context.stdout.write(isEmpty ? '\nPress Ctrl-D or type quit to leave\n' : '^C\n')
    this.#lines.write(null, { ctrl: true, name: 'u' })
    this.#lines.setPrompt(first)
    this.#lines.prompt()
  }
}

export async function runPrompt(context: CommandContext, terminal: PromptTerminal): Promise<0> {
  // A listener added now would miss a signal that arrived earlier.
  context.signal.throwIfAborted()
  return new Prompt(context, terminal).run()
}
