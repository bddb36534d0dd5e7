/** Rejects unknown names in a command line without running the command. */

import { UsageError } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import type { CommandModule, CompletionKind, Options } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { namesOf } from './complete.ts'

interface GivenNames {
  /** Resource, mart and the like. */
  readonly kind: string
  readonly names: readonly string[]
  readonly values: readonly string[]
}

const textsIn = (value: unknown): readonly string[] =>
  [value].flat().filter((one): one is string => typeof one === 'string')

const kinds: Readonly<Record<CompletionKind, string>> = {
  resource: 'resource',
  list: 'list of resources',
  mart: 'mart',
  check: 'check',
  dag: 'DAG',
  connection: 'connection',
}

/** `processed` holds one value for each declared argument. */
export async function requireNames(
  context: CommandContext,
  module: CommandModule,
  { processed, options }: { readonly processed: readonly unknown[]; readonly options: Options },
): Promise<void> {
  const given: GivenNames[] = []
  const add = async (completes: CompletionKind | undefined, value: unknown): Promise<void> => {
    const values = textsIn(value)
    if (completes && values.length > 0)
      given.push({ kind: kinds[completes], names: await namesOf(completes, context), values })
  }
  for (const [place, { name, completes, choices }] of (module.arguments ?? []).entries()) {
    const values = textsIn(processed[place])
    if (choices) given.push({ kind: name.replace(/\W/g, ''), names: choices, values })
    // A single argument may also be a path or a file.
    else if (name.includes('...')) await add(completes, processed[place])
  }
  for (const { flags, completes } of module.options ?? []) await add(completes, options[optionName(flags)])
  if (context.hasSettings()) await add('connection', context.globals.connection)
  for (const { kind, names, values } of given) requireAmong(kind, names, values)
}

/** Checks nothing without names: the settings are wrong then, and the command itself reports that. */
function requireAmong(kind: string, names: readonly string[], values: readonly string[]): void {
  const unknown = values.find(value => names.length > 0 && !names.includes(value))
  if (unknown !== undefined)
    throw new UsageError({ what: `there is no ${kind} ${unknown}${didYouMean(unknown, names)}` })
}

/** `--group-by <keys>` becomes groupBy. */
const optionName = (flags: string): string =>
  (/--([\w-]+)/.exec(flags)?.[1] ?? '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
