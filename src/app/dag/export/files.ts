/** What is exported for a scheduler: files by their paths, and how to put them in place. */
import type { NamedFile } from '../../../config/source/files.ts'

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
  /** Files of settings, absolute; none where variables are the settings. */
  readonly settings: readonly string[]
  /** Given with --config: a file or a folder of files, absolute. */
  readonly config: string | undefined
  /** Files that the settings and the environment name. */
  readonly named: readonly NamedFile[]
  /** The file of the DAG, unless it comes with the program. */
  readonly dagFile: NamedFile | undefined
  /** Names of the environment variables that a run needs. */
  readonly variables: readonly string[]
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

/** A scheduler starts with an environment of its own: what this one has is not there. */
export const variableLines = ({ variables }: ExportRequest): readonly string[] =>
  variables.length === 0
    ? []
    : [`These settings, on this machine, use ${variables.join(', ')}: each is such a line.`]

export const runWords = ({ program, options, config, dag }: ExportRequest): readonly string[] => [
  ...program,
  'dag',
  'run',
  dag,
  '--quiet',
  ...options,
  ...(config === undefined ? [] : ['--config', config]),
]
