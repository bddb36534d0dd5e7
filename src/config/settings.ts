/** Reads the settings once at the start of a command, from files or else from environment variables. */
import { ConfigError, UsageError } from '../lib/errors.ts'
import { choiceOf } from '../lib/text/nearest.ts'
import { proxySecrets } from '../lib/web/proxy.ts'
import { bucketSecrets } from './bucket.ts'
import {
  type BuildContext,
  buildConnection,
  buildStored,
  type Connection,
  type StoredConnection,
} from './connection.ts'
import { type Environment, proxyVariables, variable } from './environment.ts'
import { findSource, type SettingsRequest } from './found-source.ts'
import { Secret } from './secrets.ts'
import { checkShape, type RawConnection } from './shape.ts'
import { dotted, type SettingsPath, type SettingsProblem, type SettingsSource } from './source.ts'
import { passwordIn } from './warehouse-url.ts'

export interface SettingsOf<One> {
  /** The file they came from, or `environment`. */
  readonly source: string
  readonly connections: ReadonlyMap<string, One>
  /** One line each; none of them stops a run. */
  readonly warnings: readonly string[]
  /** Warnings for `muster doctor` alone. */
  readonly remarks: readonly string[]
  /** Every secret in use, so that logs can hide them. */
  readonly secrets: readonly Secret[]
}

export type Settings = SettingsOf<Connection>
export type StoredSettings = SettingsOf<StoredConnection>

interface LoadRequest<One> {
  readonly needs: 'key' | 'warehouse'
  readonly build: (name: string, raw: RawConnection, building: BuildContext) => One | undefined
  /** Settings whose problems are ignored. */
  isIgnored(path: SettingsPath): boolean
}

/** Throws a ConfigError with all problems at once. */
export const loadSettings = (request: SettingsRequest): Settings =>
  load(request, { needs: 'key', build: buildConnection, isIgnored: () => false })

/**
 * For commands that read only the warehouse: address and keys of the service may be missing or wrong.
 */
export const loadStored = (request: SettingsRequest): StoredSettings => load(request, storedLoading)

const isNotAboutStored = ([, , name]: SettingsPath): boolean =>
  ['baseUrl', 'apiKey', 'apiKeyFile', 'webhook', 'fieldKey', 'fieldKeyFile'].includes(String(name))

const storedLoading: LoadRequest<StoredConnection> = {
  needs: 'warehouse',
  build: buildStored,
  isIgnored: isNotAboutStored,
}

function load<One extends StoredConnection>(
  request: SettingsRequest,
  loading: LoadRequest<One>,
): SettingsOf<One> {
  const { source, built, notes } = read(request, loading)
  const isOther = othersThan(request.connection, source)
  const problems = built.problems.filter(({ path }) => !isOther(path))
  const { connections } = built
  if (problems.length === 0 && connections.length === 0) {
    problems.push({ path: ['connections'], text: 'connections is empty: add one, as `muster init` does' })
  }
  if (problems.length === 0) problems.push(...sharedWarehouses(connections), ...sharedBuckets(connections))
  if (problems.length > 0) throw asError(source, problems)
  return settingsOf(source, { ...notes, connections, env: request.env })
}

/** All valid connections, and why the others are invalid. Throws ConfigError for a problem outside a single connection. */
export function loadStoredOfAll(
  request: SettingsRequest,
): StoredSettings & { readonly faulty: ConnectionFaults } {
  const { source, built, notes } = read(request, storedLoading)
  const problems = [
    ...built.problems,
    ...sharedWarehouses(built.connections),
    ...sharedBuckets(built.connections),
  ]
  const names = new Set<unknown>(namesIn(source))
  const ofAll = problems.filter(({ path: [root, name] }) => root !== 'connections' || !names.has(name))
  if (ofAll.length > 0) throw asError(source, ofAll)
  const faulty = new Map<string, string>()
  for (const { path, text } of problems) {
    const name = String(path[1])
    if (!faulty.has(name)) faulty.set(name, `${source.where(path)}: ${text}`)
  }
  const connections = built.connections.filter(({ name }) => !faulty.has(name))
  return { ...settingsOf(source, { ...notes, connections, env: request.env }), faulty }
}

/** Names of invalid connections, each with its first problem. */
export type ConnectionFaults = ReadonlyMap<string, string>

function read<One extends StoredConnection>(
  request: SettingsRequest,
  { needs, build, isIgnored }: LoadRequest<One>,
) {
  const { source, problems: earlier, warnings: first } = findSource(request, needs)
  const shape = checkShape(source.tree)
  const problems = [...earlier, ...shape.problems].filter(({ path }) => !isIgnored(path))
  const warnings = [...first]
  const remarks: string[] = []
  const findings = {
    problem: (path: SettingsPath, text: string) => void (isIgnored(path) || problems.push({ path, text })),
    warning: (path: SettingsPath, text: string) => void warnings.push(`${source.where(path)}: ${text}`),
    remark: (path: SettingsPath, text: string) => void remarks.push(`${source.where(path)}: ${text}`),
  }
  const connections = Object.entries(shape.settings?.connections ?? {}).flatMap(
    ([name, raw]) => build(name, raw, { source, cwd: request.cwd, env: request.env, findings }) ?? [],
  )
  return { source, built: { connections, problems }, notes: { warnings, remarks } }
}

interface LoadedSettings<One> {
  readonly connections: readonly One[]
  readonly warnings: readonly string[]
  readonly remarks: readonly string[]
  readonly env: Environment
}

const settingsOf = <One extends StoredConnection>(
  source: SettingsSource,
  { connections, warnings, remarks, env }: LoadedSettings<One>,
): SettingsOf<One> => ({
  source: source.name,
  connections: new Map(connections.map(connection => [connection.name, connection])),
  warnings,
  remarks,
  secrets: connections.flatMap(connection => secretsOf(connection, env)),
})

const namesIn = ({ tree }: SettingsSource): readonly string[] => {
  const { connections } = Object(tree) as { connections?: unknown }
  return typeof connections === 'object' && connections !== null ? Object.keys(connections) : []
}

/** Finds settings of other connections. Finds none for an unknown name, so that all problems are reported. */
function othersThan(name: string | undefined, source: SettingsSource): (path: SettingsPath) => boolean {
  const names = new Set<unknown>(namesIn(source))
  if (name === undefined || !names.has(name)) return () => false
  return ([root, one]) => root === 'connections' && one !== name && names.has(one)
}

/** Names of all connections, valid or not. Throws ConfigError if there are none. */
export function connectionNames(request: SettingsRequest): readonly string[] {
  const { source } = findSource(request, 'warehouse')
  const names = namesIn(source)
  if (names.length > 0) return names
  // Throws an error that says what is wrong.
  loadSettings(request)
  return []
}

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

/** One line a setting, with its first problem only: the others may follow from it. */
function asError(source: SettingsSource, problems: readonly SettingsProblem[]): ConfigError {
  const lines = new Map<string, string>()
  for (const { path, text } of problems) {
    if (!lines.has(dotted(path))) lines.set(dotted(path), `${source.where(path)}: ${text}`)
  }
  const sorted = [...lines.values()].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  const count = lines.size === 1 ? '' : ` (${lines.size} problems)`
  return new ConfigError({ what: `${source.name} is wrong${count}`, next: sorted.join('; ') })
}

/** Two connections to one warehouse would overwrite each other's watermarks. */
function sharedWarehouses(connections: readonly StoredConnection[]): readonly SettingsProblem[] {
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

/** Pages of one connection would be replayed into the other. */
function sharedBuckets(connections: readonly StoredConnection[]): readonly SettingsProblem[] {
  const owners = new Map<string, string>()
  return connections.flatMap(({ name, bucket }) => {
    const owner = bucket && owners.get(bucket.url)
    if (bucket) owners.set(bucket.url, owner ?? name)
    if (!bucket || owner === undefined) return []
    const text = `${owner} and ${name} share a landing: give each a prefix, such as ${bucket.url}/${name}`
    return [{ path: ['connections', name, 'landing'], text }]
  })
}

function secretsOf(
  {
    apiKey,
    webhook,
    warehouse,
    bucket,
    notify,
    lineage,
    fields,
    lake,
  }: StoredConnection & Pick<Partial<Connection>, 'webhook'>,
  env: Environment,
): readonly Secret[] {
  const hooks = webhook ? [webhook.secret, ...(webhook.previousSecret ? [webhook.previousSecret] : [])] : []
  const sent = [
    notify?.url,
    notify?.token,
    notify?.email?.password,
    lineage?.url,
    lineage?.token,
    fields?.key,
  ].flatMap(secret => secret ?? [])
  const signing = (bucket ?? lake?.bucket) ? bucketSecrets(env).map(text => new Secret(text)) : []
  const proxies = proxySecrets(proxyVariables(env)).map(text => new Secret(text))
  const own = [...(apiKey ? [apiKey] : []), ...hooks, ...sent, ...signing, ...proxies]
  if (warehouse.kind === 'file') return own
  // The driver uses PGPASSWORD when the address has no password.
  const passwords = [passwordIn(warehouse.url.reveal()), variable(env, 'PGPASSWORD')]
  return [...own, ...passwords.flatMap(password => (password ? [new Secret(password)] : []))]
}
