/** Files that settings are made of: those that they are read from, and those that they name for a key, a certificate or an address. */
import { resolve } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import type { Path, Source } from '../source.ts'
import { filesOf, findSource, type SettingsRequest } from './found-source.ts'

/** A file as the settings name it, which is relative to the working folder, and its absolute path. */
export interface NamedFile {
  readonly name: string
  readonly path: string
}

export interface FilesOfSettings {
  /** Also where something is wrong in them. */
  readonly settings: readonly string[]
  readonly named: readonly NamedFile[]
  /** Names of the environment variables that these settings use. */
  readonly variables: readonly string[]
}

interface Leaf {
  readonly path: Path
  readonly text: string
}

function leavesOf(value: unknown, path: Path = []): Leaf[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

/** As in `apiKeyFile: key`, `apiKey: file:key` and `postgres://db/x?sslrootcert=ca.pem`. */
function namedIn({ path, text }: Leaf): string[] {
  if (text.startsWith('file:')) return [text.slice('file:'.length)]
  if (/^postgres(ql)?:/.test(text) && URL.canParse(text)) {
    const { searchParams } = new URL(text)
    return ['sslrootcert', 'sslcert', 'sslkey'].flatMap(name => searchParams.get(name) ?? [])
  }
  return String(path.at(-1)).endsWith('File') ? [text] : []
}

function sourceOf(request: SettingsRequest): Source | undefined {
  try {
    return findSource(request, 'warehouse').source
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** With the name of a connection, what that one alone names. */
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
