/** `muster dag export`: prints the files that run a DAG from another scheduler. */
import { mkdirSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { fileOfDag } from '../../app/dag/dag-file.ts'
import { cronFile } from '../../app/dag/export/cron.ts'
import type { DagExportRequest, DagFile } from '../../app/dag/export/files.ts'
import { kubernetesFile } from '../../app/dag/export/kubernetes.ts'
import { longestSeconds } from '../../app/dag/export/schedule.ts'
import { systemdFiles } from '../../app/dag/export/systemd.ts'
import { filesOfVariables, usedVariables } from '../../config/environment.ts'
import { defaultConfigFile, type NamedFile } from '../../config/found-source.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import {
  beginningOf,
  type OutputRules,
  requireOutput,
  requireUnguarded,
  writeOutput,
} from '../../temporary/output-file.ts'
import { type CommandModule, flagOption, type Options, textOf, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { checkedDag } from '../dag-commands.ts'
import { guardedBy } from '../guarded.ts'
import { printJson, printLine } from '../terminal/output.ts'

const exporters: Readonly<Record<string, (request: DagExportRequest) => readonly DagFile[]>> = {
  cron: request => [cronFile(request)],
  systemd: systemdFiles,
  kubernetes: request => [kubernetesFile(request)],
}

export const command: CommandModule = {
  arguments: [
    { name: '<scheduler>', summary: 'cron, systemd or kubernetes', choices: Object.keys(exporters) },
    { name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' },
  ],
  options: [
    { flags: '--output <folder>', summary: 'write the files into this folder instead of printing them' },
    { flags: '--force', summary: 'also replace files that muster did not write' },
    {
      flags: '--image <name>',
      summary: 'for kubernetes: an image with the program',
      fallback: 'muster:latest',
    },
  ],
  notes: ['Schedules are in UTC. Each file says how to install it, and what its exit codes mean.'],
  examples: [
    'muster dag export cron nightly',
    'muster dag export systemd nightly --connection acme --output units',
    'muster dag export kubernetes nightly --image registry.example.com/muster:1.0',
  ],
  run: async (context, [scheduler = '', name = ''], options) => {
    const exporter = Object.hasOwn(exporters, scheduler) ? exporters[scheduler] : undefined
    if (!exporter) {
      throw new UsageError({
        what: `there is no scheduler ${scheduler}`,
        next: choiceOf(scheduler, Object.keys(exporters)),
      })
    }
    const files = exporter(await requestOf(context, name, options))
    const output = textOption(options, 'output')
    if (output !== undefined) write(resolve(context.cwd, output), files, rulesOf(context, options))
    if (context.json) printJson(context, files)
    else if (output === undefined)
      // Files for a program: not wrapped to the terminal's width.
      context.stdout.write(
        `${files
          .map(({ text }) => text)
          .join('\n')
          .trimEnd()}\n`,
      )
    else for (const file of files) printLine(context, join(output, file.name))
    return 0
  },
}

/** Marks the first line of every file of this command, so that it recognises its own files. */
const marker = 'written by muster dag export'

const rulesOf = (context: CommandContext, options: Options): OutputRules => ({
  guarded: guardedBy(context),
  isForced: flagOption(options, 'force'),
  isOurs: file => beginningOf(file).includes(marker),
})

function write(folder: string, files: readonly DagFile[], rules: OutputRules): void {
  requireUnguarded(folder, rules.guarded)
  mkdirSync(folder, { recursive: true })
  for (const { name } of files) requireOutput(join(folder, name), rules)
  for (const { name, text } of files) writeOutput(join(folder, name), `# ${marker}\n${text}`, rules)
}

async function requestOf(context: CommandContext, dag: string, options: Options): Promise<DagExportRequest> {
  const { cwd, globals, clock, startedAs } = context
  const { description, schedule } = await checkedDag(context, dag)
  const { connection, config } = globals
  // Fails now rather than on every run.
  const known = context.hasSettings() && connection !== undefined ? context.connection().name : connection
  return {
    dag,
    description: oneLine(description),
    schedule,
    program: startedAs,
    options: known === undefined ? [] : ['--connection', known],
    ...neededBy(context, known),
    config: config === undefined ? undefined : resolve(cwd, config),
    dagFile: ownDagFile(dag, cwd),
    name: ['muster', ...(known === undefined ? [] : [known.toLowerCase().replaceAll('_', '-')]), dag].join(
      '-',
    ),
    folder: cwd,
    image: textOf(options, 'image'),
    longest: longestSeconds(schedule, clock.now()),
  }
}

/** A line break would end a comment or a unit field; a trailing backslash would join the next line. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\\ ]+$/, '')
    .trim()

/** Files and variables that the settings and the current environment name. */
function neededBy(context: CommandContext, connection: string | undefined) {
  const { cwd, env } = context
  const { settings, named, variables } = context.filesOfSettings(connection)
  const others = filesOfVariables(env).map(name => ({ name, path: resolve(cwd, name) }))
  const isFileToCome = settings.length === 0 && !context.hasSettings()
  return {
    settings: isFileToCome ? [resolve(cwd, defaultConfigFile)] : settings,
    named: [...named, ...others.filter(({ path }) => !named.some(one => one.path === path))],
    variables: [...new Set([...variables, ...usedVariables(env)])].sort(),
  }
}

function ownDagFile(dag: string, cwd: string): NamedFile | undefined {
  const name = fileOfDag(dag, cwd)
  return isAbsolute(name) ? undefined : { name, path: resolve(cwd, name) }
}
