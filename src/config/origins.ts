/** Every setting with its value and where that comes from: a file and line, the environment, or the default. */
import { buildStored } from './connection.ts'
import { checkShape, declared, type RawConnection } from './shape.ts'
import { findSource, type SettingsRequest } from './source/found-source.ts'
import type { Path, Source } from './source.ts'
import { passwordIn } from './warehouse-url.ts'

/** Where a setting without a value comes from. */
export const notSet = 'not set'

export interface Setting {
  readonly connection: string
  /** `queries.seconds` */
  readonly name: string
  /** Undefined where there is none. */
  readonly value: string | number | undefined
  readonly from: string
}

const groups: Readonly<Record<string, { readonly shape: object }>> = declared.groups

/** Names of the settings of a connection, those of its groups with a dot. */
const names: readonly string[] = Object.keys(declared.connection.shape).flatMap(name => {
  const group = groups[name]
  return group ? Object.keys(group.shape).map(inner => `${name}.${inner}`) : [name]
})

/** A secret is what may be in a file of its own instead. */
const secretNames = new Set(names.filter(name => names.includes(`${name}File`)))

function valueIn(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null
        ? Object.getOwnPropertyDescriptor(value, step)?.value
        : undefined,
    tree,
  )
}

/** A secret, or the password in an address, is not shown; where a secret is kept is. */
function shown(name: string, value: unknown): string | number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (secretNames.has(name)) return text.startsWith('file:') ? text : '[secret]'
  const password = passwordIn(text)
  if (password === undefined) return text
  const url = new URL(text)
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}

/** `config/muster.yaml:9, ACME_API_KEY` */
function placeOf(source: Source, path: Path): string {
  const variables = source.variablesOf(path)
  // The warehouse has a usual place where no variable names one.
  if (source.line === undefined)
    return variables.length > 0 ? `environment, ${variables.join(', ')}` : 'default'
  return [`${source.fileOf?.(path) ?? source.name}:${source.line(path)}`, ...variables].join(', ')
}

interface Reading {
  readonly source: Source
  readonly cwd: string
  readonly env: SettingsRequest['env']
}

/** Of the warehouse, which says where pages land; undefined where that cannot be told. */
function landingOf(name: string, raw: RawConnection, reading: Reading): string | undefined {
  const ignored = { problem: () => undefined, warning: () => undefined, remark: () => undefined }
  return buildStored(name, raw, { ...reading, findings: ignored })?.landing
}

function settingsOf(connection: string, raw: RawConnection, reading: Reading): Setting[] {
  const { source } = reading
  return names.map(name => {
    const steps = name.split('.')
    const path = ['connections', connection, ...steps]
    const written = valueIn(source.tree, path)
    if (written !== undefined && written !== null) {
      const variables = source.variablesOf(path)
      const value = shown(name, written)
      const missing = value === undefined && variables.length > 0 ? ', which is not set' : ''
      return { connection, name, value, from: `${placeOf(source, path)}${missing}` }
    }
    const usual = name === 'landing' ? landingOf(connection, raw, reading) : valueIn(raw, steps)
    const value = shown(name, usual)
    return { connection, name, value, from: value === undefined ? notSet : 'default' }
  })
}

export interface Origins {
  /** The file, or `environment`. */
  readonly source: string
  readonly settings: readonly Setting[]
}

/** Also of settings that are wrong: what is unknown or has no right type is left out. Throws ConfigError without any. */
export function settingOrigins(request: SettingsRequest): Origins {
  const { source } = findSource(request, 'warehouse')
  const { settings } = checkShape(source.tree)
  const reading = { source, cwd: request.cwd, env: request.env }
  return {
    source: source.name,
    settings: Object.entries(settings?.connections ?? {}).flatMap(([name, raw]) =>
      settingsOf(name, raw, reading),
    ),
  }
}

/** Where the key of a connection is read from. */
export function keyPlace(request: SettingsRequest, connection: string): string | undefined {
  const { settings } = settingOrigins(request)
  const set = (name: string) =>
    settings.find(one => one.connection === connection && one.name === name && one.value !== undefined)
  const file = set('apiKeyFile')
  return file ? `${file.value} (${file.from})` : set('apiKey')?.from
}
