/** What a running command gets: settings when it asks for them, its streams, log, time and signal. */

import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { Notices } from '../app/surroundings.ts'
import type { Connection, StoredConnection } from '../config/connection.ts'
import { keyPlace } from '../config/origins.ts'
import { Secret } from '../config/secret.ts'
import { connectionNamed, type SettingsOf } from '../config/settings.ts'
import { minuteMs } from '../lib/dates.ts'
import type { ExitStatus } from '../lib/errors.ts'
import { sweep } from '../temporary/scratch.ts'
import { type SettingsReader, settingsReader } from './settings-reader.ts'
import { type ColourChoice, isColoured } from './terminal/colour.ts'
import { createLog } from './terminal/log.ts'
import { noticesOf } from './terminal/notices.ts'
import { createRedactor, type Redactor } from './terminal/redactor.ts'
import { gateFor, type StderrGate } from './terminal/stderr-gate.ts'
import { escaping } from './terminal/terminal.ts'
import type { World } from './world.ts'

/** Options that every command takes. */
export interface GlobalOptions {
  readonly config?: string
  readonly connection?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly quiet?: boolean
  readonly color?: ColourChoice
  readonly log?: 'lines' | 'json'
  /** Milliseconds. */
  readonly wait?: number
}

/** The other commands of the program. */
interface Program {
  readonly commandNames: readonly string[]
  /** What declares them; `commandsOf` knows its type, which this file cannot without a circle. */
  readonly set: unknown
  /** Runs another command of this program in the same process, with the same global options. */
  invoke(argv: readonly string[], globals?: Pick<GlobalOptions, 'wait'>, env?: World['env']): Promise<Invoked>
  /** Why that command would not take these words, without running it; undefined when it would. */
  refusal(argv: readonly string[]): Promise<string | undefined>
}

export interface Invoked {
  readonly status: ExitStatus
  /** The line that says why it is not 0. */
  readonly reason?: string
}

export interface CommandContext extends World, Notices, SettingsReader {
  readonly globals: GlobalOptions
  readonly json: boolean
  /** Whether people watch stderr on a terminal. */
  readonly isTerminal: boolean
  /** Whether stdout shows colours. */
  readonly isColoured: boolean
  readonly stderr: StderrGate
  readonly log: Logger
  readonly program: Program
  /** From now on this text is replaced in everything that is written to stderr. */
  hide(text: string): void
  /** The text without the secrets that are known, for whatever leaves this process. */
  hidden(text: string): string
  /** Where the key of the chosen connection is read from: file and line, or a variable. Undefined before it is chosen. */
  keyPlace(): string | undefined
  /** How long to wait for a warehouse that another process holds; the settings count once the command has read them. */
  waitMs(): number
  /** The connection that `--connection` names, or the only one. */
  connection(): Connection
  /** The same for commands that only read what is stored: they need neither the key nor the address of the service. */
  stored(): StoredConnection
}

export interface ContextParts {
  readonly world: World
  readonly globals: GlobalOptions
  readonly program: Program
  readonly redactor?: Redactor
}

/** What killed processes left at its places is removed before it is used. */
function swept<One extends StoredConnection>(connection: One, notice: Notices['notice']): One {
  const { landing, warehouse } = connection
  const file = warehouse.kind === 'file' ? warehouse.file : undefined
  const real = file !== undefined && existsSync(file) ? realpathSync(file) : file
  const folders = [landing, dirname(landing), ...(real === undefined ? [] : [dirname(real)])]
  for (const folder of new Set(folders)) sweep(folder, notice)
  return connection
}

const requestOf = ({ env, cwd }: World, { config, connection }: GlobalOptions) => ({
  ...{ env, cwd },
  ...(config !== undefined && { configFile: config }),
  ...(connection !== undefined && { connection }),
})

export function createContext({
  world,
  globals,
  program,
  redactor = createRedactor(),
}: ContextParts): CommandContext {
  const stderr = gateFor(world.stderr, redactor)
  const log = createLog({
    level: levelOf(globals),
    clock: world.clock,
    write: line => void stderr.write(line),
  })
  const notices = noticesOf({ stderr, log, globals })
  let chosen: Connection | undefined
  let read: StoredConnection | undefined
  const request = requestOf(world, globals)
  let isWarned = false
  const told = ({ secrets, warnings, source }: SettingsOf<unknown>): void => {
    redactor.learn(secrets)
    if (!isWarned) for (const warning of warnings) notices.warn(`${source}, ${warning}`)
    isWarned = true
  }
  const reader = settingsReader(request, told)
  sweep(world.cwd, notices.tell)
  return {
    ...world,
    stdout: escaping(world.stdout),
    globals,
    json: globals.json === true,
    isTerminal: world.stderr.isTTY === true,
    isColoured: isColoured(globals.color ?? 'auto', world.env, world.stdout.isTTY === true),
    stderr,
    log,
    notice: notices.tell,
    program,
    hide: text => redactor.learn([new Secret(text)]),
    hidden: redactor.hide,
    keyPlace: () => chosen && keyPlace(request, chosen.name),
    ...reader,
    stored: () =>
      (read ??= swept(connectionNamed(reader.storedSettings(), globals.connection), notices.tell)),
    waitMs: () => globals.wait ?? ((chosen ?? read)?.waitMinutes ?? 0) * minuteMs,
    connection: () =>
      (chosen ??= swept(connectionNamed(reader.settings(), globals.connection), notices.tell)),
  }
}

function levelOf({ quiet, verbose, log }: GlobalOptions): 'debug' | 'info' | 'warn' | 'error' {
  if (verbose) return 'debug'
  if (log === 'json' && !quiet) return 'info'
  return quiet ? 'error' : 'warn'
}
