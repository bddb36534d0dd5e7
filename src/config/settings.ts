/** Settings, read once at the start of a command: from a file, or else from a few variables. */
import { resolve } from 'node:path'
import { ConfigError, UsageError } from '../lib/errors.ts'
import { readInputText } from '../lib/input-file.ts'
import {
  type Building,
  buildConnection,
  buildStored,
  type Connection,
  type StoredConnection,
} from './connection.ts'
import { type Environment, environmentSource, settingVariables, variable } from './environment.ts'
import { choiceOf } from './nearest.ts'
import { Secret } from './secret.ts'
import { checkShape, type RawConnection } from './shape.ts'
import { dotted, type Path, type Problem, type Source } from './source.ts'
import { passwordIn } from './warehouse-url.ts'
import { largestYaml } from './yaml.ts'
import { readYaml } from './yaml-source.ts'

export interface SettingsOf<One> {
  /** The file they came from, or `environment`. */
  readonly source: string
  readonly connections: ReadonlyMap<string, One>
  /** One line each; nothing that stops a run. */
  readonly warnings: readonly string[]
  /** Every secret in use, so that logs can hide them. */
  readonly secrets: readonly Secret[]
}

export type Settings = SettingsOf<Connection>
export type StoredSettings = SettingsOf<StoredConnection>

export interface SettingsRequest {
  /** From the command line; it must exist. */
  readonly configFile?: string
  readonly env: Environment
  readonly cwd: string
}

export const defaultConfigFile = 'config/muster.yaml'

interface Loading<One> {
  readonly needs: 'key' | 'warehouse'
  readonly build: (name: string, raw: RawConnection, building: Building) => One | undefined
  /** Settings whose problems do not matter. */
  isIgnored(path: Path): boolean
}

/** Throws a ConfigError with all problems at once. */
export const loadSettings = (request: SettingsRequest): Settings =>
  load(request, { needs: 'key', build: buildConnection, isIgnored: () => false })

/**
 * For commands that read the warehouse, and neither the service nor landed pages: address and keys may be missing or wrong.
 */
export const loadStored = (request: SettingsRequest): StoredSettings =>
  load(request, { needs: 'warehouse', build: buildStored, isIgnored: isNotAboutStored })

const isNotAboutStored = ([, , name]: Path): boolean =>
  ['baseUrl', 'apiKey', 'apiKeyFile', 'webhook', 'landingKey', 'landingKeyFile'].includes(String(name))

function load<One extends StoredConnection>(
  request: SettingsRequest,
  { needs, build, isIgnored }: Loading<One>,
): SettingsOf<One> {
  const { source, problems: earlier, warnings: first } = findSource(request, needs)
  const shape = checkShape(source.tree)
  const problems = [...earlier, ...shape.problems].filter(({ path }) => !isIgnored(path))
  const warnings = [...first]
  const findings = {
    problem: (path: Path, text: string) => void (isIgnored(path) || problems.push({ path, text })),
    warning: (path: Path, text: string) => void warnings.push(`${source.where(path)}: ${text}`),
  }
  const connections = Object.entries(shape.settings?.connections ?? {}).flatMap(
    ([name, raw]) => build(name, raw, { source, cwd: request.cwd, findings }) ?? [],
  )
  if (problems.length === 0 && connections.length === 0) {
    problems.push({ path: ['connections'], text: 'connections is empty: add one, as `muster init` does' })
  }
  if (problems.length === 0) problems.push(...sharedWarehouses(connections))
  if (problems.length > 0) throw asError(source, problems)
  return {
    source: source.name,
    connections: new Map(connections.map(connection => [connection.name, connection])),
    warnings,
    secrets: connections.flatMap(connection => secretsOf(connection, request.env)),
  }
}

/** Whether there are settings to load, for commands that can do without. */
export const hasSettings = ({ configFile, env, cwd }: SettingsRequest): boolean =>
  configFile !== undefined ||
  readIfThere(resolve(cwd, defaultConfigFile)) !== undefined ||
  environmentSource(env, 'warehouse') !== undefined

/** The named connection, or the only one. */
export function connectionNamed<One>(settings: SettingsOf<One>, name?: string): One {
  const names = [...settings.connections.keys()]
  const only = names.length === 1 ? names[0] : undefined
  const connection = settings.connections.get(name ?? only ?? '')
  if (connection) return connection
  if (name === undefined) {
    throw new UsageError({
      what: `${settings.source} has ${names.length} connections`,
      next: `name one with --connection NAME (${names.join(', ')})`,
    })
  }
  throw new UsageError({
    what: `no connection is named ${name}`,
    where: settings.source,
    next: choiceOf(name, names),
  })
}

export interface Found {
  readonly source: Source
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Where the settings are; throws ConfigError when there are none. */
export function findSource({ configFile, env, cwd }: SettingsRequest, needs: 'key' | 'warehouse'): Found {
  const file = configFile ?? defaultConfigFile
  const text = readIfThere(resolve(cwd, file))
  if (text !== undefined) {
    const yaml = readYaml({ file, text }, env)
    if (typeof yaml !== 'string') return { ...yaml, warnings: unusedVariables(env, yaml.source) }
    throw new ConfigError({ what: `${file}:${yaml}`, next: 'correct the YAML there' })
  }
  if (configFile !== undefined) {
    throw new ConfigError({
      what: `${file} does not exist`,
      next: `write it with \`muster init --config ${file}\``,
    })
  }
  const source = environmentSource(env, needs)
  if (source) return { source, problems: [], warnings: [] }
  throw new ConfigError({
    what: `there are no settings: ${file} does not exist`,
    next: 'run `muster init`, or set MUSTER_BASE_URL and MUSTER_API_KEY',
  })
}

/** Somebody who set them expects them to count. */
function unusedVariables(env: Environment, { variables }: Source): readonly string[] {
  const unused = settingVariables.filter(name => variable(env, name) !== undefined && !variables.has(name))
  if (unused.length === 0) return []
  const are = unused.length === 1 ? 'is' : 'are'
  return [
    `which counts although ${new Intl.ListFormat('en-GB').format(unused)} ${are} set: unset ${unused.length === 1 ? 'it' : 'them'}, or move the file away`,
  ]
}

function readIfThere(file: string): string | undefined {
  const read = readInputText(file, { mostBytes: largestYaml })
  if (typeof read === 'string') return read
  if (read.isMissing) return undefined
  throw new ConfigError({ what: `${file} ${read.why}`, next: 'name a readable file of settings' })
}

/** One line a setting: only its first problem, from which others may follow. */
function asError(source: Source, problems: readonly Problem[]): ConfigError {
  const lines = new Map<string, string>()
  for (const { path, text } of problems) {
    if (!lines.has(dotted(path))) lines.set(dotted(path), `${source.where(path)}: ${text}`)
  }
  const sorted = [...lines.values()].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  const count = lines.size === 1 ? '' : ` (${lines.size} problems)`
  return new ConfigError({ what: `${source.name} is wrong${count}`, next: sorted.join('; ') })
}

/** Two connections to one warehouse would overwrite each other's watermarks. */
function sharedWarehouses(connections: readonly StoredConnection[]): readonly Problem[] {
  const owners = new Map<string, string>()
  return connections.flatMap(({ name, warehouse, schemaPrefix }) => {
    const place = warehouse.kind === 'file' ? warehouse.file : `${warehouse.shown} ${schemaPrefix ?? ''}`
    const owner = owners.get(place)
    owners.set(place, owner ?? name)
    if (owner === undefined) return []
    const advice = warehouse.kind === 'server' ? 'give one a schemaPrefix' : 'give each a file'
    return [
      { path: ['connections', name, 'warehouse'], text: `${owner} and ${name} share a warehouse: ${advice}` },
    ]
  })
}

/** Each line of a file with several keys. */
const keysOf = (keys: Secret): readonly Secret[] =>
  keys
    .reveal()
    .split(/[\s,]+/)
    .map(key => new Secret(key))

function secretsOf(
  { apiKey, webhook, warehouse, landingKey }: StoredConnection & Pick<Partial<Connection>, 'webhook'>,
  env: Environment,
): readonly Secret[] {
  const hooks = webhook ? [webhook.secret, ...(webhook.previousSecret ? [webhook.previousSecret] : [])] : []
  const own = [...(apiKey ? [apiKey] : []), ...(landingKey ? keysOf(landingKey) : []), ...hooks]
  if (warehouse.kind === 'file') return own
  // The driver uses PGPASSWORD when the address has no password.
  const passwords = [passwordIn(warehouse.url.reveal()), variable(env, 'PGPASSWORD')]
  return [...own, ...passwords.flatMap(password => (password ? [new Secret(password)] : []))]
}
