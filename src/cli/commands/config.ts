/** `muster config`: shows the settings in effect and where each comes from. */

import { notSet, type Setting, settingOrigins } from '../../config/origins.ts'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable, type ShownColumn } from '../terminal/output.ts'

/** What is wrong with the settings; undefined when a sync could begin. Warnings go to stderr. */
function problemIn(context: CommandContext): ConfigError | undefined {
  try {
    context.settings()
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

function chosen(settings: readonly Setting[], name: string | undefined): readonly Setting[] {
  if (name === undefined) return settings
  const names = [...new Set(settings.map(({ connection }) => connection))]
  if (!names.includes(name))
    throw new UsageError({ what: `no connection is named ${name}`, next: choiceOf(name, names) })
  return settings.filter(({ connection }) => connection === name)
}

const columns: readonly ShownColumn[] = [
  'setting',
  { title: 'value', breaks: true },
  { title: 'from', breaks: true },
]

/** Prints one connection after the other. Settings without a value are named below, or listed with --verbose. */
function print(context: CommandContext, settings: readonly Setting[]): void {
  for (const connection of new Set(settings.map(one => one.connection))) {
    const own = settings.filter(one => one.connection === connection)
    const listed = own.filter(({ from }) => from !== notSet || context.globals.verbose)
    printLine(context, `Connection ${connection}:`)
    printTable(
      context,
      columns,
      listed.map(({ name, value, from }) => [name, value?.toString(), from]),
    )
    const others = own.filter(one => !listed.includes(one)).map(({ name }) => name)
    if (others.length > 0) printLine(context, `not set: ${others.join(', ')}`)
  }
}

export const command: CommandModule = {
  notes: ['Secrets are not shown. Wrong settings are reported after the table, with exit code 78.'],
  examples: ['muster config', 'muster config --connection acme', 'muster config --json'],
  run: async context => {
    const { cwd, env, globals } = context
    const { config, connection } = globals
    const origins = settingOrigins({ cwd, env, ...(config !== undefined && { configFile: config }) })
    const settings = chosen(origins.settings, connection)
    const problem = problemIn(context)
    if (context.json) {
      printJson(context, { source: origins.source, settings, problem: problem?.message ?? null })
    } else {
      print(context, settings)
    }
    if (problem) throw problem
    return 0
  },
}
