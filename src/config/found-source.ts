/**
 * Finds the settings: a file, a folder of files, or environment variables. Lists their files: those with settings, and those
 * that settings name for a key, a certificate or an address.
 */

import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { readInputText } from '../lib/input-file.ts'
import { type Environment, environmentSource, settingVariables, variable } from './environment.ts'
import type { SettingsPath, SettingsProblem, SettingsSource } from './source.ts'
import { largestYaml, readYaml, type YamlSource } from './yaml.ts'

/** A file as the settings name it, which is relative to the working folder, and its absolute path. */
export interface NamedFile {
  readonly name: string
  readonly path: string
}

export interface FilesOfSettings {
  /** Includes invalid files. */
  readonly settings: readonly string[]
  readonly named: readonly NamedFile[]
  /** Names of the environment variables that these settings use. */
  readonly variables: readonly string[]
}

interface SettingsLeaf {
  readonly path: SettingsPath
  readonly text: string
}

function leavesOf(value: unknown, path: SettingsPath = []): SettingsLeaf[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

/** Files named as in `apiKeyFile: key`, `apiKey: file:key` and `postgres://db/x?sslrootcert=ca.pem`. */
function namedIn({ path, text }: SettingsLeaf): string[] {
  if (text.startsWith('file:')) return [text.slice('file:'.length)]
  if (/^postgres(ql)?:/.test(text) && URL.canParse(text)) {
    const { searchParams } = new URL(text)
    return ['sslrootcert', 'sslcert', 'sslkey'].flatMap(name => searchParams.get(name) ?? [])
  }
  return String(path.at(-1)).endsWith('File') ? [text] : []
}

function sourceOf(request: SettingsRequest): SettingsSource | undefined {
  try {
    return findSource(request, 'warehouse').source
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** With a connection, `named` and `variables` are limited to that one. */
export function filesOfSettings(request: SettingsRequest, connection?: string): FilesOfSettings {
  const source = sourceOf(request)
  const leaves = leavesOf(source?.tree).filter(
    ({ path }) => connection === undefined || path[1] === connection,
  )
  const names = new Set(leaves.flatMap(namedIn))
  return {
    settings: filesOf(request).map(file => resolve(request.cwd, file)),
    named: [...names].map(name => ({ name, path: resolve(request.cwd, name) })),
    variables: [...new Set(leaves.flatMap(({ path }) => source?.variablesOf(path) ?? []))],
  }
}

type SettingsTree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is SettingsTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const connectionsOf = ({ tree }: SettingsSource): SettingsTree => {
  const { connections } = isTree(tree) ? tree : {}
  return isTree(connections) ? connections : {}
}

/** If two files have the same connection, the first one counts and the second is reported as a problem. */
function joinedSource(read: readonly YamlSource[]): YamlSource {
  const owners = new Map<string, SettingsSource>()
  const problems: SettingsProblem[] = read.flatMap(one => one.problems)
  const rest: Record<string, unknown> = {}
  for (const { source } of read) {
    for (const name of Object.keys(connectionsOf(source))) {
      const owner = owners.get(name)
      if (owner)
        problems.push({
          path: ['connections', name],
          text: `${owner.name} and ${source.name} both have ${name}`,
        })
      else owners.set(name, source)
    }
    // Keeps unknown keys, so that the check of the joined settings reports each of them once.
    if (isTree(source.tree)) for (const [key, value] of Object.entries(source.tree)) rest[key] ??= value
  }
  const connections = Object.fromEntries(
    [...owners].map(([name, source]) => [name, connectionsOf(source)[name]]),
  )
  const sourceOf = ([, name]: SettingsPath): SettingsSource | undefined => owners.get(String(name))
  const names = read.map(({ source }) => source.name)
  const source: SettingsSource = {
    name: `${names[0]} and ${names.length - 1} more`,
    tree: { ...rest, connections },
    where: path => {
      const own = sourceOf(path)
      return own ? `${own.name} ${own.where(path)}` : names.join(', ')
    },
    fileOf: path => sourceOf(path)?.name ?? names[0] ?? '',
    line: path => sourceOf(path)?.line?.(path) ?? 1,
    variablesOf: path => sourceOf(path)?.variablesOf(path) ?? [],
    variables: new Set(read.flatMap(one => [...one.source.variables])),
  }
  return { source, problems }
}

export interface SettingsRequest {
  /** From the command line: a file, or a folder of files; it must exist. */
  readonly configFile?: string
  readonly env: Environment
  readonly cwd: string
  /** Ignores problems of other connections, so that an invalid one does not stop this one. */
  readonly connection?: string
}

export const defaultConfigFile = 'config/muster.yaml'

/** Further files, for many connections; theirs follow those of the default file. */
const defaultFolder = 'config/muster.d'

interface FoundSource {
  readonly source: SettingsSource
  readonly problems: readonly SettingsProblem[]
  readonly warnings: readonly string[]
}

/** False if the path cannot be inspected, such as a link to itself; reading it as a file then reports why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

/** Includes links with a missing target. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A part of the path is a file.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

/** `.yaml` and `.yml` files, except hidden ones, which editors write. */
const filesIn = (cwd: string, folder: string): readonly string[] =>
  readdirSync(resolve(cwd, folder))
    .filter(name => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map(name => join(folder, name))

/** The settings files in order, or none. */
function filesOf({ configFile, cwd }: SettingsRequest): readonly string[] {
  const named = configFile ?? defaultConfigFile
  if (isFolder(resolve(cwd, named))) return filesIn(cwd, named)
  const own = isThere(resolve(cwd, named)) ? [named] : []
  const others =
    configFile === undefined && isFolder(resolve(cwd, defaultFolder)) ? filesIn(cwd, defaultFolder) : []
  return [...own, ...others]
}

function readFile(file: string, { env, cwd }: SettingsRequest): YamlSource {
  const text = readInputText(resolve(cwd, file), { maxBytes: largestYaml })
  if (typeof text !== 'string')
    throw new ConfigError({ what: `${file} ${text.why}`, next: 'name a readable settings file' })
  const yaml = readYaml({ file, text }, env)
  if (typeof yaml === 'string')
    throw new ConfigError({ what: `${file}:${yaml}`, next: 'correct the YAML there' })
  return yaml
}

/** Finds the settings; throws ConfigError if there are none. */
export function findSource(request: SettingsRequest, needs: 'key' | 'warehouse'): FoundSource {
  const { configFile, env } = request
  const read = filesOf(request).map(file => readFile(file, request))
  const [first] = read
  if (first) {
    const { source, problems } = read.length === 1 ? first : joinedSource(read)
    return { source, problems, warnings: unusedVariables(env, source) }
  }
  if (configFile !== undefined) {
    throw new ConfigError({
      what: isFolder(resolve(request.cwd, configFile))
        ? `${configFile} has no settings file`
        : `${configFile} does not exist`,
      next: `write it with \`muster init --config ${configFile}\``,
    })
  }
  const source = environmentSource(env, needs)
  if (source) return { source, problems: [], warnings: [] }
  throw new ConfigError({
    what: `there are no settings: ${defaultConfigFile} does not exist`,
    next: 'run `muster init`, or set MUSTER_BASE_URL and MUSTER_API_KEY',
  })
}

/** Whether there are settings to load, for commands that also work without. */
export const hasSettings = (request: SettingsRequest): boolean =>
  request.configFile !== undefined ||
  filesOf(request).length > 0 ||
  environmentSource(request.env, 'warehouse') !== undefined

/** Warns about variables that the settings file overrides, because the user expects them to count. */
function unusedVariables(env: Environment, { variables }: SettingsSource): readonly string[] {
  const unused = settingVariables.filter(name => variable(env, name) !== undefined && !variables.has(name))
  if (unused.length === 0) return []
  const them = unused.length === 1 ? 'it' : 'them'
  return [
    `which overrides ${new Intl.ListFormat('en-GB').format(unused)}: unset ${them}, or move the file away`,
  ]
}
