/** Lists every setting with its value and origin: a file and line, the environment, or the default. */
import { buildStored } from './connection.ts'
import { findSource, type SettingsRequest } from './found-source.ts'
import { checkShape, declared, type RawConnection } from './shape.ts'
import type { SettingsPath, SettingsSource } from './source.ts'
import { passwordIn } from './warehouse-url.ts'

/** Origin of a setting without a value. */
export const notSet = 'not set'

export interface Setting {
  readonly connection: string
  /** `queries.seconds` */
  readonly name: string
  readonly value: string | number | undefined
  readonly from: string
}

const groups: Readonly<Record<string, { readonly shape: object }>> = declared.groups

/** Names of a connection's settings; those of its groups have a dot. */
const names: readonly string[] = Object.keys(declared.connection.shape).flatMap(name => {
  const group = groups[name]
  return group ? Object.keys(group.shape).map(inner => `${name}.${inner}`) : [name]
})

/** A setting is secret if another setting can name a file for it. */
const secretNames = new Set(names.filter(name => names.includes(`${name}File`)))

function valueIn(tree: unknown, path: SettingsPath): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null
        ? Object.getOwnPropertyDescriptor(value, step)?.value
        : undefined,
    tree,
  )
}

/** Hides a secret, or the password in an address; shows the file of a secret. */
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
function originText(source: SettingsSource, path: SettingsPath): string {
  const variables = source.variablesOf(path)
  // Without a variable, the warehouse has its default place.
  if (source.line === undefined)
    return variables.length > 0 ? `environment, ${variables.join(', ')}` : 'default'
  return [`${source.fileOf?.(path) ?? source.name}:${source.line(path)}`, ...variables].join(', ')
}

interface OriginContext {
  readonly source: SettingsSource
  readonly cwd: string
  readonly env: SettingsRequest['env']
}

/** The default folder of landed pages, which depends on the warehouse; undefined if the warehouse is invalid. */
function landingOf(name: string, raw: RawConnection, reading: OriginContext): string | undefined {
  const ignored = { problem: () => undefined, warning: () => undefined, remark: () => undefined }
  return buildStored(name, raw, { ...reading, findings: ignored })?.landing
}

function settingsOf(connection: string, raw: RawConnection, reading: OriginContext): Setting[] {
  const { source } = reading
  return names.map(name => {
    const steps = name.split('.')
    const path = ['connections', connection, ...steps]
    const written = valueIn(source.tree, path)
    if (written !== undefined && written !== null) {
      const variables = source.variablesOf(path)
      const value = shown(name, written)
      const missing = value === undefined && variables.length > 0 ? ', which is not set' : ''
      return { connection, name, value, from: `${originText(source, path)}${missing}` }
    }
    const fallback = name === 'landing' ? landingOf(connection, raw, reading) : valueIn(raw, steps)
    const value = shown(name, fallback)
    return { connection, name, value, from: value === undefined ? notSet : 'default' }
  })
}

export interface SettingOrigins {
  /** The file, or `environment`. */
  readonly source: string
  readonly settings: readonly Setting[]
}

/** Works with invalid settings too, and leaves out unknown keys and wrong types. Throws ConfigError if there are no settings. */
export function settingOrigins(request: SettingsRequest): SettingOrigins {
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
