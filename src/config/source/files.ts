/** Files that settings are made of: those that they are read from, and those that they name for a key or an address. */
import { resolve } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import { filesOf, findSource, type SettingsRequest } from './found-source.ts'

export interface FilesOfSettings {
  /** Also where something is wrong in them. */
  readonly settings: readonly string[]
  readonly secrets: readonly string[]
}

/** As in `apiKeyFile: key` and `apiKey: file:key`. */
function namedIn(value: unknown, name = ''): string[] {
  if (typeof value === 'string') {
    if (value.startsWith('file:')) return [value.slice('file:'.length)]
    return name.endsWith('File') ? [value] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => namedIn(inner, key))
}

function treeOf(request: SettingsRequest): unknown {
  try {
    return findSource(request, 'warehouse').source.tree
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

export function filesOfSettings(request: SettingsRequest): FilesOfSettings {
  const full = (files: readonly string[]): string[] => files.map(file => resolve(request.cwd, file))
  return { settings: full(filesOf(request)), secrets: full(namedIn(treeOf(request))) }
}
