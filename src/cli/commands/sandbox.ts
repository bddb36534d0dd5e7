/** `muster sandbox`: a stand-in for the service on this machine, for those without a key. */

import {
  type CommandModule,
  calendarDay,
  numberOption,
  type Options,
  positiveNumber,
  textOption,
  wholeNumber,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../output.ts'

const LARGEST_PORT = 65_535

export const command: CommandModule = {
  name: 'sandbox',
  summary: 'Start a stand-in for the service, with generated data, until interrupted.',
  options: [
    { flags: '--seed <number>', summary: 'other data for another seed', parse: wholeNumber(0), fallback: 1 },
    { flags: '--scale <number>', summary: '1 is 5,000 timesheets', parse: positiveNumber, fallback: 1 },
    { flags: '--today <day>', summary: 'data ends the day before this one', parse: calendarDay },
    {
      flags: '--port <number>',
      summary: 'port to listen on; 0 takes a free one',
      parse: wholeNumber(0, LARGEST_PORT),
      fallback: 0,
    },
    { flags: '--live <number>', summary: 'changes of records per second', parse: positiveNumber },
    {
      flags: '--limit-per-minute <number>',
      summary: 'requests a key may send a minute',
      parse: wholeNumber(1),
    },
    { flags: '--limit-per-day <number>', summary: 'requests a key may send a day', parse: wholeNumber(1) },
  ],
  examples: [
    'muster sandbox',
    'muster sandbox --port 4010 --scale 0.1',
    'muster sandbox --live 5 --limit-per-day 500',
  ],
  run: async (context, _, options) => {
    // Loaded here because no other command needs a web server.
    const { startSandbox } = await import('../../sandbox/server.ts')
    const { defaultKeys } = await import('../../sandbox/default-keys.ts')
    const sandbox = await startSandbox(sandboxOptions(options))
    announce(context, sandbox.url, defaultKeys)
    await untilAborted(context.signal)
    await sandbox.close()
    return 0
  },
}

function sandboxOptions(options: Options) {
  const seed = numberOption(options, 'seed')
  const scale = numberOption(options, 'scale')
  const today = textOption(options, 'today')
  const port = numberOption(options, 'port')
  const changesPerSecond = numberOption(options, 'live')
  const rateLimitPerMinute = numberOption(options, 'limitPerMinute')
  const rateLimitPerDay = numberOption(options, 'limitPerDay')
  return {
    host: '127.0.0.1' as const,
    ...(seed !== undefined && { seed }),
    ...(scale !== undefined && { scale }),
    ...(today !== undefined && { today }),
    ...(port !== undefined && { port }),
    ...(changesPerSecond !== undefined && { live: { changesPerSecond, seed: seed ?? 1 } }),
    ...(rateLimitPerMinute !== undefined && { rateLimitPerMinute }),
    ...(rateLimitPerDay !== undefined && { rateLimitPerDay }),
  }
}

/** Not secrets: they open nothing but generated data on this machine. */
const KEYS = { company: 'sandbox-company-key', agency: 'sandbox-agency-key' }

interface Key {
  readonly key: string
  readonly description: string
}

function announce(context: CommandContext, url: string, keys: readonly Key[]): void {
  const env = {
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: KEYS.company,
    MUSTER_WAREHOUSE: 'duckdb:data/sandbox.duckdb',
  }
  if (context.json) {
    const listed = keys.map(({ key, description }) => ({ key, description }))
    printJson(context, { url, keys: KEYS, allKeys: listed, env })
    return
  }
  const widest = Math.max(...keys.map(({ key }) => key.length))
  const lines = [
    `The sandbox listens on ${url}`,
    '',
    'Keys:',
    ...keys.map(({ key, description }) => `  ${key.padEnd(widest)}  ${description}`),
    '',
    'In another terminal:',
    ...Object.entries(env).map(([name, value]) => `  export ${name}=${value}`),
    '',
    'Ctrl-C ends it.',
  ]
  printLine(context, lines.join('\n'))
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
