/** What is exported for a scheduler: files by their paths, and how to put them in place. */

export interface ExportRequest {
  readonly dag: string
  readonly description: string
  /** Five cron fields, in UTC. */
  readonly schedule: string
  /** The words that start the program, with absolute paths. */
  readonly program: readonly string[]
  /** Options that belong to every run, such as `--connection acme`. */
  readonly options: readonly string[]
  /** The name of the files. */
  readonly name: string
  /** Working folder: the settings and the warehouse are relative to it. */
  readonly folder: string
  /** A container image with the program, for Kubernetes. */
  readonly image: string
  /** Seconds after which a run is ended. */
  readonly longest: number
}

export interface ExportedFile {
  /** Name of the file. */
  readonly name: string
  readonly text: string
}

/** What schedulers must know of the exit codes, as lines of a comment. */
export const exitCodeLines: readonly string[] = [
  'Exit codes: 0 done; 75 the budget or the time was spent: what was read is loaded, and the next run goes on, so it counts',
  'as done here; 3 a check failed and 1 a task failed: look at the output; 2 and 78: the command or the settings are wrong.',
]

export const runWords = ({ program, options, dag }: ExportRequest): readonly string[] => [
  ...program,
  'dag',
  'run',
  dag,
  '--quiet',
  ...options,
]
