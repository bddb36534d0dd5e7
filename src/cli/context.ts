/** Creates the context of a running command: its settings, streams, log, clock and signal. */

import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { NoticeOutput } from '../app/runtime-context.ts'
import type { Connection, StoredConnection } from '../config/connection.ts'
import {
  type FilesOfSettings,
  filesOfSettings,
  hasSettings,
  type SettingsRequest,
} from '../config/found-source.ts'
import { keyPlace } from '../config/origins.ts'
import { Secret } from '../config/secrets.ts'
import {
  type ConnectionFaults,
  connectionNamed,
  connectionNames,
  loadSettings,
  loadStored,
  loadStoredOfAll,
  type Settings,
  type SettingsOf,
  type StoredSettings,
} from '../config/settings.ts'
import { minuteMs } from '../lib/dates.ts'
import type { ExitStatus } from '../lib/errors.ts'
import { sweep } from '../temporary/scratch.ts'
import { type ColourChoice, isColoured } from './terminal/colour.ts'
import { createLog, noticesOf } from './terminal/log.ts'
import { createRedactor, gateFor, type Redactor, type StderrGate } from './terminal/stderr-gate.ts'
import { escaping } from './terminal/terminal.ts'
import type { ProcessIo } from './world.ts'

/** Reads settings on request, each kind once. */
interface SettingsReader {
  /** Whether there is a file or a variable to read settings from, valid or not. */
  hasSettings(): boolean
  /** With the name of a connection, only its files. */
  filesOfSettings(connection?: string): FilesOfSettings
  /** Names of all connections, including those with wrong settings. */
  connectionNames(): readonly string[]
  /** Read on the first call; later calls give the same settings. */
  settings(): Settings
  storedSettings(): StoredSettings
  /** Reads all connections; reports faults of some without failing the others. */
  storedSettingsOfAll(): StoredSettings & { readonly faulty: ConnectionFaults }
}

/** Calls `learnSettings` with everything read: warnings to print, and secrets to hide. */
function settingsReader(
  request: SettingsRequest,
  learnSettings: (loaded: SettingsOf<unknown>) => void,
): SettingsReader {
  const once = <Loaded extends SettingsOf<unknown>>(load: (request: SettingsRequest) => Loaded) => {
    let loaded: Loaded | undefined
    return (): Loaded => {
      if (!loaded) {
        loaded = load(request)
        learnSettings(loaded)
      }
      return loaded
    }
  }
  return {
    hasSettings: () => hasSettings(request),
    filesOfSettings: connection => filesOfSettings(request, connection),
    connectionNames: () => connectionNames(request),
    settings: once(loadSettings),
    storedSettings: once(loadStored),
    storedSettingsOfAll: once(loadStoredOfAll),
  }
}

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
  /** The declarations; `commandsOf` gives the type, which would be a circular import here. */
  readonly set: unknown
  /** Runs another command of this program in the same process, with the same global options. */
  invoke(
    argv: readonly string[],
    globals?: Pick<GlobalOptions, 'wait'>,
    world?: Pick<ProcessIo, 'env' | 'isTask'>,
  ): Promise<CommandResult>
  /** Why that command rejects these arguments, without running it; undefined if it accepts them. */
  refusal(argv: readonly string[]): Promise<string | undefined>
}

export interface CommandResult {
  readonly status: ExitStatus
  /** The error line if the status is not 0. */
  readonly reason?: string
}

export interface CommandContext extends ProcessIo, NoticeOutput, SettingsReader {
  readonly globals: GlobalOptions
  readonly json: boolean
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean
  /** Whether stdout shows colours. */
  readonly isColoured: boolean
  readonly stderr: StderrGate
  readonly log: Logger
  readonly program: Program
  /** Redacts this text in everything written to stderr from now on. */
  hide(text: string): void
  /** Redacts the known secrets in a text that leaves this process. */
  hidden(text: string): string
  /** Where the key of the chosen connection is read from: file and line, or a variable. Undefined before it is chosen. */
  keyPlace(): string | undefined
  /** How long to wait for a warehouse that another process has locked; from the settings once they are read. */
  waitMs(): number
  /** The connection that `--connection` names, or the only one. */
  connection(): Connection
  /** The same for commands that read only stored data: they need neither the key nor the service's address. */
  stored(): StoredConnection
}

interface ContextParts {
  readonly world: ProcessIo
  readonly globals: GlobalOptions
  readonly program: Program
  readonly redactor?: Redactor
}

/** Removes temporary files of killed processes from the connection's folders. */
function swept<One extends StoredConnection>(connection: One, notice: NoticeOutput['notice']): One {
  const { landing, warehouse } = connection
  const file = warehouse.kind === 'file' ? warehouse.file : undefined
  const real = file !== undefined && existsSync(file) ? realpathSync(file) : file
  const folders = [landing, dirname(landing), ...(real === undefined ? [] : [dirname(real)])]
  for (const folder of new Set(folders)) sweep(folder, notice)
  return connection
}

const requestOf = ({ env, cwd }: ProcessIo, { config, connection }: GlobalOptions) => ({
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
  const learnSettings = ({ secrets, warnings, source }: SettingsOf<unknown>): void => {
    redactor.learn(secrets)
    if (!isWarned) for (const warning of warnings) notices.warn(`${source}, ${warning}`)
    isWarned = true
  }
  const reader = settingsReader(request, learnSettings)
  sweep(world.cwd, notices.notify)
  return {
    ...world,
    stdout: escaping(world.stdout),
    globals,
    json: globals.json === true,
    isTerminal: world.stderr.isTTY === true,
    isColoured: isColoured(globals.color ?? 'auto', world.env, world.stdout.isTTY === true),
    stderr,
    log,
    notice: notices.notify,
    program,
    hide: text => redactor.learn([new Secret(text)]),
    hidden: redactor.hide,
    keyPlace: () => chosen && keyPlace(request, chosen.name),
    ...reader,
    stored: () =>
      (read ??= swept(connectionNamed(reader.storedSettings(), globals.connection), notices.notify)),
    waitMs: () => globals.wait ?? ((chosen ?? read)?.waitMinutes ?? 0) * minuteMs,
    connection: () =>
      (chosen ??= swept(connectionNamed(reader.settings(), globals.connection), notices.notify)),
  }
}

function levelOf({ quiet, verbose, log }: GlobalOptions): 'debug' | 'info' | 'warn' | 'error' {
  if (verbose) return 'debug'
  if (log === 'json' && !quiet) return 'info'
  return quiet ? 'error' : 'warn'
}
