/** `muster sandbox`: runs a stand-in for the service on this machine, for users without a key. */
import { defaultKeys, sandboxKeys } from '../../sandbox/keys/default-keys.ts'
import { contractOptions, type Option, parseOption } from '../../sandbox/options.ts'
import type { Violation } from '../../sandbox/server/contract-checker.ts'
import type { Sandbox } from '../../sandbox/server/sandbox.ts'
import {
  type CommandModule,
  calendarDay,
  flagOption,
  integerBetween,
  numberOf,
  numberOption,
  type Options,
  positiveNumber,
  textOption,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { deliveryLine, eventOptions, webhookLines, webhookOptions } from '../sandbox-webhooks.ts'
import { printJson, printLine } from '../terminal/output.ts'

const largestPort = 65_535
const nameWidth = 17

export const command: CommandModule = {
  options: [
    {
      flags: '--seed <number>',
      summary: 'seed of the generated data',
      parse: integerBetween(0),
      fallback: 1,
    },
    {
      flags: '--scale <number>',
      summary: 'amount of data; 1 is 5,000 timesheets',
      parse: positiveNumber,
      fallback: 1,
    },
    {
      flags: '--today <day>',
      summary: 'the data ends on the day before this one; default today',
      parse: calendarDay,
    },
    {
      flags: '--port <number>',
      summary: 'port to listen on; 0 takes a free one',
      parse: integerBetween(0, largestPort),
      fallback: 0,
    },
    { flags: '--live <number>', summary: 'record changes per second', parse: positiveNumber },
    { flags: '--live-deletions', summary: 'with --live: also remove a record now and then' },
    {
      flags: '--limit-per-minute <number>',
      summary: 'requests per minute for each key',
      parse: integerBetween(1),
    },
    { flags: '--limit-per-day <number>', summary: 'requests per day for each key', parse: integerBetween(1) },
    ...webhookOptions,
    {
      flags: '--option <name=value>',
      summary: 'choose one interpretation where the contract allows several; may be repeated',
      parse: gathered(parseOption),
    },
    { flags: '--lists', summary: 'print the allowed values for writing workers, and exit' },
  ],
  notes: optionLines(),
  examples: [
    'muster sandbox',
    'muster sandbox --port 4010 --scale 0.1',
    'muster sandbox --live 5 --limit-per-day 500',
    'muster sandbox --live 5 --webhook http://127.0.0.1:8080/webhook',
    'muster sandbox --webhook http://127.0.0.1:8080/webhook --webhook-kind agency --webhook-burst 10000',
    'muster sandbox --option to=exclusive --option day-zone=Europe/London',
    'muster sandbox --lists',
  ],
  run: async (context, _, options) => {
    if (flagOption(options, 'lists')) {
      printJson(context, (await import('../../sandbox/writes/lists.ts')).allLists)
      return 0
    }
    // Loaded here because no other command needs a web server.
    const { startSandbox } = await import('../../sandbox/server/sandbox.ts')
    const events = eventOptions(options, context.env)
    const sandbox = await startSandbox({
      ...sandboxOptions(options),
      clock: context.clock,
      ...(events && { events }),
    })
    announce(context, sandbox)
    const bursting = sandbox.burst({ count: numberOption(options, 'webhookBurst') ?? 0 })
    await untilAborted(context.signal)
    await sandbox.close()
    await bursting
    if (events) printLine(context, deliveryLine(sandbox))
    printViolations(context, sandbox.violations())
    return 0
  },
}

function sandboxOptions(options: Options) {
  const seed = numberOf(options, 'seed')
  const today = textOption(options, 'today')
  const changesPerSecond = numberOption(options, 'live')
  const deletions = flagOption(options, 'liveDeletions')
  const rateLimitPerMinute = numberOption(options, 'limitPerMinute')
  const rateLimitPerDay = numberOption(options, 'limitPerDay')
  return {
    seed,
    scale: numberOf(options, 'scale'),
    port: numberOf(options, 'port'),
    ...(today !== undefined && { today }),
    ...(changesPerSecond !== undefined && { live: { changesPerSecond, seed, deletions } }),
    ...(rateLimitPerMinute !== undefined && { rateLimitPerMinute }),
    ...(rateLimitPerDay !== undefined && { rateLimitPerDay }),
    ...(options.option !== undefined && { options: options.option as ReturnType<typeof parseOption> }),
  }
}

/** Merges the values of an option that may be given several times. */
function gathered<Part extends object>(parse: (text: string) => Part) {
  return (text: string, before?: unknown): Part => ({ ...(before as Part | undefined), ...parse(text) })
}

function optionLines(): string[] {
  const table: Readonly<Record<string, Option<unknown>>> = contractOptions
  const lines = Object.entries(table).map(([name, { values, fallback, meaning }]) => {
    const text = `${meaning}: ${values} (${fallback})`
    return `  ${name.padEnd(nameWidth)}${text.replaceAll('`', '')}`
  })
  return ['Values of --option:', ...lines]
}

const examplesShown = 3

/** Written to stderr, because stdout may be one JSON document. */
function printViolations({ stderr }: CommandContext, violations: readonly Violation[]): void {
  if (violations.length === 0) return
  const lines = [`${violations.length} requests broke the contract:`]
  for (const kind of new Set(violations.map(violation => violation.kind))) {
    const same = violations.filter(violation => violation.kind === kind)
    lines.push(`  ${kind}: ${same.length}`)
    for (const { method, path, message } of same.slice(0, examplesShown))
      lines.push(`    ${method} ${path}: ${message}`)
  }
  stderr.write(`${lines.join('\n')}\n`)
}

/** Addresses beside the API: its OpenAPI description, and its operations as MCP tools. */
function beside(url: string) {
  return { openapi: new URL('/openapi.json', url).href, mcp: new URL('/mcp', url).href }
}

function announce(context: CommandContext, sandbox: Sandbox): void {
  const { url, webhooks } = sandbox
  const env = {
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: 'duckdb:data/sandbox.duckdb',
  }
  if (context.json) {
    const listed = defaultKeys.map(({ key, description }) => ({ key, description }))
    printJson(context, { url, ...beside(url), keys: sandboxKeys, allKeys: listed, env, webhooks })
    return
  }
  const widest = Math.max(...defaultKeys.map(({ key }) => key.length))
  const lines = [
    `The sandbox listens on ${url}`,
    `  described at ${beside(url).openapi}, with tools for assistants at ${beside(url).mcp}`,
    '',
    'Keys:',
    ...defaultKeys.map(({ key, description }) => `  ${key.padEnd(widest)}  ${description}`),
    'Allowed values for writing workers: muster sandbox --lists',
    '',
    'In another terminal:',
    ...Object.entries(env).map(([name, value]) => `  export ${name}=${value}`),
    '',
    ...webhookLines(sandbox),
    'Ctrl-C stops it.',
  ]
  printLine(context, lines.join('\n'))
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
