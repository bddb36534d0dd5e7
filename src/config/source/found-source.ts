/** Where the settings are: a file, a folder of files, or a few variables. */
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { type Environment, environmentSource, settingVariables, variable } from '../environment.ts'
import type { Problem, Source } from '../source.ts'
import { largestYaml } from '../yaml.ts'
import { joinedSource } from './joined-source.ts'
import { readYaml, type YamlSource } from './yaml-source.ts'

export interface SettingsRequest {
  /** From the command line: a file, or a folder of files; it must exist. */
  readonly configFile?: string
  readonly env: Environment
  readonly cwd: string
  /** Problems of other connections do not matter: one that is wrong leaves the others alone. */
  readonly connection?: string
}

export const defaultConfigFile = 'config/muster.yaml'

/** Files beside the usual one, for whoever has many connections; their connections come after its own. */
const defaultFolder = 'config/muster.d'

export interface Found {
  readonly source: Source
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** What cannot be looked at, such as a link to itself, is no folder; whoever reads it as a file is told why it is none. */
function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

/** Links that lead nowhere included. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A part of the path is a file.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

/** `.yaml` and `.yml`; hidden files are those of editors. */
const filesIn = (cwd: string, folder: string): readonly string[] =>
  readdirSync(resolve(cwd, folder))
    .filter(name => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map(name => join(folder, name))

/** The files that count, in order; empty when there are none. */
export function filesOf({ configFile, cwd }: SettingsRequest): readonly string[] {
  const named = configFile ?? defaultConfigFile
  if (isFolder(resolve(cwd, named))) return filesIn(cwd, named)
  const own = isThere(resolve(cwd, named)) ? [named] : []
  const others =
    configFile === undefined && isFolder(resolve(cwd, defaultFolder)) ? filesIn(cwd, defaultFolder) : []
  return [...own, ...others]
}

function readFile(file: string, { env, cwd }: SettingsRequest): YamlSource {
  const text = readInputText(resolve(cwd, file), { mostBytes: largestYaml })
  if (typeof text !== 'string')
    throw new ConfigError({ what: `${file} ${text.why}`, next: 'name a readable file of settings' })
  const yaml = readYaml({ file, text }, env)
  if (typeof yaml === 'string')
    throw new ConfigError({ what: `${file}:${yaml}`, next: 'correct the YAML there' })
  return yaml
}

/** Where the settings are; throws ConfigError when there are none. */
export function findSource(request: SettingsRequest, needs: 'key' | 'warehouse'): Found {
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
        ? `${configFile} has no file of settings`
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

/** Whether there are settings to load, for commands that can do without. */
export const hasSettings = (request: SettingsRequest): boolean =>
  request.configFile !== undefined ||
  filesOf(request).length > 0 ||
  environmentSource(request.env, 'warehouse') !== undefined

/** Somebody who set them expects them to count. */
function unusedVariables(env: Environment, { variables }: Source): readonly string[] {
  const unused = settingVariables.filter(name => variable(env, name) !== undefined && !variables.has(name))
  if (unused.length === 0) return []
  const are = unused.length === 1 ? 'is' : 'are'
  return [
    `which counts although ${new Intl.ListFormat('en-GB').format(unused)} ${are} set: unset ${unused.length === 1 ? 'it' : 'them'}, or move the file away`,
  ]
}
