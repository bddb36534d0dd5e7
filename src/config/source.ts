/** Raw settings together with where each of them was written, so that every problem can name its place. */

/** From the root to a value: `['connections', 'acme', 'apiKey']`. */
export type Path = readonly (string | number)[]

export interface Source {
  /** The file, or `environment`. */
  readonly name: string
  /** Plain values, with every variable already replaced. */
  readonly tree: unknown
  /** Where a value, or else its nearest ancestor, stands: `line 4`, or the name of a variable. */
  where(path: Path): string
  /** Whether the text of a value holds anything that came from the environment. */
  isFromEnvironment(path: Path): boolean
}

export interface Problem {
  readonly path: Path
  readonly text: string
}

export function dotted(path: Path): string {
  return path.join('.')
}
