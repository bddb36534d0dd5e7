/** Raw settings with the place where each was written, so that every problem can name its place. */

/** From the root to a value: `['connections', 'acme', 'apiKey']`. */
export type Path = readonly (string | number)[]

export interface Source {
  /** The file, or `environment`. */
  readonly name: string
  /** Plain values, with every variable already replaced. */
  readonly tree: unknown
  /** The place of a value, or of its nearest ancestor: `line 4`, or the name of a variable. */
  where(path: Path): string
  /** The file of a value, where there are several. */
  readonly fileOf?: (path: Path) => string
  /** The line of a value, where there is a file. */
  readonly line?: (path: Path) => number
  /** Names of the environment variables that a value came from, wholly or in part. */
  variablesOf(path: Path): readonly string[]
  /** Names of all environment variables that were read. */
  readonly variables: ReadonlySet<string>
}

export interface Problem {
  readonly path: Path
  readonly text: string
}

export function dotted(path: Path): string {
  return path.join('.')
}
