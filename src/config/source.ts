/** Declares raw settings with their places, so that every problem can name its place. */

/** From the root to a value: `['connections', 'acme', 'apiKey']`. */
export type SettingsPath = readonly (string | number)[]

export interface SettingsSource {
  /** The file, or `environment`. */
  readonly name: string
  /** Plain values, with every variable already replaced. */
  readonly tree: unknown
  /** The place of a value, or of its nearest ancestor: `line 4`, or the name of a variable. */
  where(path: SettingsPath): string
  /** The file of a value, if there are several. */
  readonly fileOf?: (path: SettingsPath) => string
  /** The line of a value, if there is a file. */
  readonly line?: (path: SettingsPath) => number
  /** Names of the environment variables that a value came from, wholly or in part. */
  variablesOf(path: SettingsPath): readonly string[]
  /** Names of all environment variables that were read. */
  readonly variables: ReadonlySet<string>
}

export interface SettingsProblem {
  readonly path: SettingsPath
  readonly text: string
}

export function dotted(path: SettingsPath): string {
  return path.join('.')
}
