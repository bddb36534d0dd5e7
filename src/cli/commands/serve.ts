/** `muster serve`: receives webhooks, reads the records they name, and runs scheduled DAGs, until interrupted. */
import { InvalidArgumentError } from 'commander'
import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { dashboardSource } from '../../app/connection/dashboard-source.ts'
import { duckdbFile, inboxBounds, openInboxStore, requireRoom } from '../../app/connection/storage.ts'
import { fieldSettings, openToWrite, runConnection } from '../../app/connection/warehouse.ts'
import { dagNames } from '../../app/dag/dag-file.ts'
import type { Connection } from '../../config/connection.ts'
import type { DashboardOptions, ServedMarts } from '../../dashboard/server.ts'
import { tokenFor } from '../../dashboard/token.ts'
import type { VerificationRules } from '../../events/verify.ts'
import { ConfigError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { gatedBody } from '../../privacy/fields/gate.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { defaultIntervals } from '../../serve/inbox-worker.ts'
import type { ScheduledDag } from '../../serve/schedule.ts'
import type { ServeEffects, ServeRequest } from '../../serve/serve.ts'
import {
  anyText,
  type CommandModule,
  flagOption,
  integerBetween,
  listOption,
  numberOf,
  numberOption,
  type Options,
  repeated,
  textOf,
  timeSpan,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { checkedDag } from '../dag-commands.ts'
import { printJson, printLine } from '../terminal/output.ts'

const largestPort = 65_535
const ownPaths: ReadonlySet<string> = new Set(['/health', '/metrics'])

export const command: CommandModule = {
  options: [
    { flags: '--host <address>', summary: 'address to listen on', fallback: '127.0.0.1' },
    {
      flags: '--port <number>',
      summary: 'port to listen on; 0 takes a free one',
      parse: integerBetween(0, largestPort),
      fallback: 8080,
    },
    { flags: '--path <path>', summary: 'where webhooks are posted', parse: plainPath, fallback: '/webhook' },
    {
      flags: '--allow-host <name>',
      summary: 'a host name that a proxy uses for webhooks; may be repeated',
      parse: repeated(anyText),
    },
    {
      flags: '--figures-host <name>',
      summary: 'answer /health, /metrics and the dashboard under this host name too; may be repeated',
      parse: repeated(anyText),
    },
    {
      flags: '--every <span>',
      summary: 'read records that events name at most this often, such as 30s or 5m; default 1m',
      parse: timeSpan,
    },
    {
      flags: '--dag <name>',
      summary: 'run this DAG on its schedule; may be repeated; default on a DuckDB file: all DAGs',
      parse: repeated(anyText),
    },
    { flags: '--no-schedule', summary: 'do not run DAGs' },
    { flags: '--dashboard', summary: 'also serve the dashboard, on a port of its own' },
    { flags: '--dashboard-host <address>', summary: 'address of the dashboard', fallback: '127.0.0.1' },
    {
      flags: '--dashboard-port <number>',
      summary: 'port of the dashboard; 0 takes a free one',
      parse: integerBetween(0, largestPort),
      fallback: 8090,
    },
    {
      flags: '--dashboard-token',
      summary: 'require the token of the printed address; always required from other machines',
    },
  ],
  notes: [
    'GET /health returns the state as JSON, GET /metrics figures for Prometheus; to this machine only, unless --figures-host allows others. Schedules of DAGs are in UTC. Without a webhook secret it accepts no events.',
    'On DuckDB the dashboard reads the published copy, because serve has the working file open.',
  ],
  examples: [
    'muster serve',
    'muster serve --port 8443 --allow-host hooks.example.com --path /hooks/f3a9c1',
    'muster serve --no-schedule --every 5m --json',
    'muster serve --dashboard --dashboard-port 8090',
  ],
  run: async (context, _, options) => {
    // Loaded here because few other commands need a web server.
    const { serve } = await import('../../serve/serve.ts')
    const connection = context.connection()
    requireRoom(connection)
    const request = await requestOf(context, connection, options)
    const asked = dashboardOf(options)
    if (!asked) requireWork(connection, request)
    const dashboard = asked && (await openDashboard(context, connection, asked))
    try {
      await serve(request, effectsOf(context, connection, dashboard?.address))
    } finally {
      await dashboard?.close()
    }
    return 0
  },
}

/** Measuring the service's time delays a drain by at most this; events are stored meanwhile. */
const longestMeasureMs = 10_000

function dashboardOf(options: Options): DashboardOptions | undefined {
  if (!flagOption(options, 'dashboard')) return undefined
  const host = textOf(options, 'dashboardHost')
  const allowedHosts = listOption<string>(options, 'figuresHost')
  const token = tokenFor({ host, allowedHosts, isTokenAsked: flagOption(options, 'dashboardToken') })
  return {
    host,
    port: numberOf(options, 'dashboardPort'),
    flags: { host: '--dashboard-host', port: '--dashboard-port' },
    allowedHosts,
    ...(token && { token }),
  }
}

async function openDashboard(
  { clock }: CommandContext,
  connection: Connection,
  options: DashboardOptions,
): Promise<ServedMarts> {
  const { serveMarts } = await import('../../dashboard/server.ts')
  const source = dashboardSource(connection, { isWriting: true })
  return serveMarts({ source, clock, isReadFirst: false }, options)
}

/** Accepts only characters that the router does not read as a pattern. */
function plainPath(text: string): string {
  if (/^(\/[A-Za-z0-9_-]+)+$/.test(text) && !ownPaths.has(text)) return text
  throw new InvalidArgumentError(
    'Give a path as /webhook: letters, digits, _ and -, other than /health and /metrics.',
  )
}

async function requestOf(
  context: CommandContext,
  connection: Connection,
  options: Options,
): Promise<ServeRequest> {
  const verification = verificationOf(connection)
  return {
    name: connection.name,
    connection: runConnection(connection),
    ...(verification && { verification }),
    receiver: {
      host: textOf(options, 'host'),
      port: numberOf(options, 'port'),
      path: textOf(options, 'path'),
      allowedHosts: listOption<string>(options, 'allowHost'),
      figuresHosts: listOption<string>(options, 'figuresHost'),
    },
    schedule: await scheduleOf(context, connection, options),
    intervals: { ...defaultIntervals, minMs: numberOption(options, 'every') ?? defaultIntervals.minMs },
    inboxDays: connection.inboxDays,
    inboxBounds: inboxBounds(connection),
  }
}

/** Without a secret, deliveries cannot be verified and none is accepted. */
function verificationOf(connection: Connection): VerificationRules | undefined {
  const { webhook } = connection
  if (!webhook) return undefined
  const policy = new FieldPolicy(fieldSettings(connection))
  const { secret, previousSecret, headerPrefix } = webhook
  return {
    headerPrefix,
    ...(!policy.isEmpty && { gate: body => gatedBody(policy, body) }),
    secrets: [secret.reveal(), ...(previousSecret ? [previousSecret.reveal()] : [])],
  }
}

function requireWork({ name }: Connection, { verification, schedule }: ServeRequest): void {
  if (verification || schedule.length > 0) return
  throw new ConfigError({
    what: `connection ${name} has no webhook secret and no DAG to schedule: there is nothing to serve`,
    next: 'name a DAG with --dag, or set webhook.secret in its settings, or MUSTER_WEBHOOK_SECRET',
  })
}

/** On a server, which usually has a scheduler of its own, a DAG runs only when it is named. */
async function scheduleOf(
  context: CommandContext,
  connection: Connection,
  options: Options,
): Promise<ScheduledDag[]> {
  if (options.schedule === false) return []
  const named = listOption<string>(options, 'dag')
  const all = duckdbFile(connection) === undefined ? [] : dagNames(context.cwd)
  const scheduled: ScheduledDag[] = []
  for (const name of named.length > 0 ? named : all)
    scheduled.push({ name, schedule: (await checkedDag(context, name)).schedule })
  return scheduled
}

function effectsOf(context: CommandContext, connection: Connection, dashboard?: string): ServeEffects {
  const { clock, rng, signal, log, program } = context
  return {
    open: () => openToWrite(connection),
    openStore: engine => openInboxStore(connection, engine),
    runDag: async name => (await program.invoke(['dag', 'run', name])).status,
    clock,
    measure: async (engine, clock) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(longestMeasureMs)])
      const { client, close } = await openAdHocClient(connection, { clock, rng, signal: within }, engine)
      await client.getMe().finally(close)
    },
    rng,
    signal,
    version: programVersion,
    log: log.child({}, { level: flagOption(context.globals as Options, 'quiet') ? 'error' : 'info' }),
    onReady: ({ url, due }) => {
      if (context.json) return printJson(context, { url, due, ...(dashboard !== undefined && { dashboard }) })
      printLine(context, connection.webhook ? `Webhooks are received at ${url}` : `Its state is at ${url}`)
      if (dashboard !== undefined) printLine(context, `The dashboard is at ${dashboard}`)
      for (const { dag, at } of due) printLine(context, `  ${dag} runs next at ${at}`)
      printLine(context, 'Ctrl-C stops it.')
    },
  }
}
