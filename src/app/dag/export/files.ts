/** Describes what an export needs, and formats the comment lines that all exported files share. */
import type { NamedFile } from '../../../config/found-source.ts'

export interface DagExportRequest {
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
  /** Settings files, absolute; none if the settings are variables. */
  readonly settings: readonly string[]
  /** The value of --config: a file or a folder of files, absolute. */
  readonly config: string | undefined
  /** Files that the settings and the environment name. */
  readonly named: readonly NamedFile[]
  /** The file of the DAG, unless it comes with the program. */
  readonly dagFile: NamedFile | undefined
  /** Names of the environment variables that a run needs. */
  readonly variables: readonly string[]
  /** Seconds after which the scheduler ends a run. */
  readonly longest: number
}

export interface DagFile {
  /** Name of the file. */
  readonly name: string
  readonly text: string
}

/** Explains the exit codes, as comment lines. */
export const exitCodeLines: readonly string[] = [
  'Exit codes: 0 done; 75 the budget or time ran out: everything read is loaded and the next run continues, so it counts',
  'as done here; 3 a check failed, 1 a task failed: see the output; 2 and 78: the command or the settings are wrong.',
]

/** Names the variables to set: a scheduler does not have the environment of this process. */
export const variableLines = ({ variables }: DagExportRequest): readonly string[] =>
  variables.length === 0
    ? []
    : [`On this machine the settings use ${variables.join(', ')}: write one line for each.`]

export const runWords = ({ program, options, config, dag }: DagExportRequest): readonly string[] => [
  ...program,
  'dag',
  'run',
  dag,
  '--quiet',
  ...options,
  ...(config === undefined ? [] : ['--config', config]),
]
