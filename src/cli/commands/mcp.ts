/** `muster mcp`: gives an assistant read-only tools for the warehouse, over stdin and stdout. */
import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { assistantData, pacedInput } from '../../app/assistant.ts'
import { programVersion } from '../../lib/package.ts'
import { type CommandModule, integerBetween, numberOf } from '../command.ts'
import type { TerminalOutput } from '../terminal/terminal.ts'

export const command: CommandModule = {
  options: [
    {
      flags: '--seconds <number>',
      summary: 'time limit of a query',
      parse: integerBetween(1, 3600),
      fallback: 30,
    },
    {
      flags: '--rows <number>',
      summary: 'row limit of a query that sets none',
      parse: integerBetween(1, 5000),
      fallback: 200,
    },
  ],
  notes: ['stdout carries only the protocol; the log goes to stderr.'],
  examples: ['muster mcp', 'muster mcp --connection acme --seconds 10'],
  run: async (context, _, options) => {
    const connection = context.stored()
    // Throws at once when there is nothing to read.
    const data = assistantData(connection)
    const seconds = numberOf(options, 'seconds')
    const session = await data.open(seconds)
    await session.close()
    const { allAnswered, assistantServer, hasFewCalls } = await import('../../app/assistant.ts')
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
    const { stdout } = context
    const drained = async () => stdout.drained?.()
    const server = assistantServer({
      data,
      version: programVersion,
      seconds,
      rows: numberOf(options, 'rows'),
      note: (tool, detail) => context.log.debug(detail, tool),
      drained,
    })
    const ready = async () => Promise.all([hasFewCalls(), drained()])
    const input = Readable.from(pacedInput(process.stdin, ready), { objectMode: false })
    const stopped = aborted(context.signal)
    const ended = Promise.race([finished(input, { writable: false }), stopped])
    await server.connect(new StdioServerTransport(input, writable(stdout)))
    await ended
    // Lets the last messages become calls, whose answers are then written.
    await setImmediate()
    await Promise.race([allAnswered(), stopped])
    await setImmediate()
    await server.close()
    return 0
  },
}

/** The protocol is JSON: escaping characters does not change the message. */
const writable = (stdout: TerminalOutput): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      stdout.write(String(chunk))
      done()
    },
  })

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
