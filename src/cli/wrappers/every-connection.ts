/** Runs a command with `--all` for every connection, each in its own process, so that failures stay separate. */
import { spawn } from 'node:child_process'
import PQueue from 'p-queue'
import { dagExitCode } from '../../app/dag/run-dag.ts'
import { type ExitStatus, UsageError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import { formatSeconds, printJson, printLine, printTable } from '../terminal/output.ts'

/** Processes at a time. A sync mostly waits for the network, but more would need too much memory for a small machine. */
const atOnce = 2

interface EndedConnection {
  readonly connection: string
  readonly exitCode: number
  readonly milliseconds: number
  readonly out: string
  /** The last line on stderr: the reason, if it failed. */
  readonly reason: string
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8')

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

function runFor(
  context: CommandContext,
  connection: string,
  argv: readonly string[],
): Promise<EndedConnection> {
  const { startedAs, cwd, env, clock, signal } = context
  const startedAt = clock.now()
  const [file = '', ...words] = startedAs
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...words, ...argv, '--connection', connection], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', reject)
    child.once('close', code => {
      signal.removeEventListener('abort', stop)
      // Null if a signal ended it before it had a listener.
      const exitCode = code ?? (signal.aborted ? 75 : 1)
      const milliseconds = clock.now() - startedAt
      const reason = exitCode === 0 ? '' : lastLine(textOf(err)) || lastLine(textOf(out))
      resolve({ connection, exitCode, milliseconds, out: textOf(out), reason })
    })
  })
}

function namesOf(context: CommandContext): readonly string[] {
  if (context.globals.connection !== undefined)
    throw new UsageError({ what: '--all and --connection exclude each other', next: 'give one of them' })
  return context.connectionNames()
}

const states: Readonly<Record<number, string>> = { 0: 'done', 75: 'later' }

/** Parses the output as JSON, or returns it as text. */
function outputOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function print(context: CommandContext, ended: readonly EndedConnection[]): void {
  if (context.json) {
    printJson(
      context,
      ended.map(({ out, ...rest }) => ({ ...rest, output: outputOf(out) })),
    )
    return
  }
  printTable(
    context,
    ['connection', 'state', 'seconds', { title: 'why', breaks: true }],
    ended.map(({ connection, exitCode, milliseconds, reason }) => [
      connection,
      states[exitCode] ?? `failed (${exitCode})`,
      Math.round(milliseconds / 100) / 10,
      reason.replace(/^muster: /, ''),
    ]),
  )
}

const notBegun = (connection: string): EndedConnection => ({
  connection,
  exitCode: 75,
  milliseconds: 0,
  out: '',
  reason: 'stopped before it began',
})

/** Returns the worst exit code. `argv` is the command line without `--all`. */
export async function everyConnection(context: CommandContext, argv: readonly string[]): Promise<ExitStatus> {
  const queue = new PQueue({ concurrency: atOnce })
  const ended = await Promise.all(
    namesOf(context).map(name =>
      queue.add(async () => {
        if (context.signal.aborted) return notBegun(name)
        const one = await runFor(context, name, argv)
        if (!context.json)
          printLine(context, `${name}: ${lastLine(one.out)} (${formatSeconds(one.milliseconds)})`)
        return one
      }),
    ),
  )
  print(context, ended)
  return dagExitCode(
    ended.map(({ connection, exitCode }) => ({
      task: connection,
      state: exitCode === 0 ? 'done' : exitCode === 75 ? 'later' : 'failed',
      startedAt: 0,
      finishedAt: 0,
      exitCode,
    })),
  )
}
