/** Runs the command that an argument list names, and turns its outcome into an exit code. */

import { Command, Option } from 'commander'
import type { ExitStatus } from '../lib/errors.ts'
import { programVersion } from '../lib/package.ts'
import { argument, type CommandModule, type CommandSet, type Options, parserOf } from './command.ts'
import type { CommandContext, GlobalOptions, Invoked } from './context.ts'
import { describeFailure } from './failure.ts'
import { unaliased } from './shell/aliases.ts'
import { asFlags, exitCodes, globalOptions } from './shell/global-options.ts'
import { asHelpOption } from './shell/help-line.ts'
import { helpAfter } from './shell/help-text.ts'
import { type LoadedCommand, loadCommands } from './shell/load-commands.ts'
import { suggesting } from './shell/suggestion.ts'
import { createRedactor, type Redactor } from './terminal/redactor.ts'
import { gateFor } from './terminal/stderr-gate.ts'
import { escaping } from './terminal/terminal.ts'
import { showLine, wrapped } from './terminal/wrapped.ts'
import type { World } from './world.ts'

/** Never throws: a failure is one line on stderr and its exit code. */
export const run = async (argv: readonly string[], world: World, commands: CommandSet): Promise<ExitStatus> =>
  (await outcomeOf(argv, { world, commands, isTrial: false })).status

type Surroundings = Pick<Session, 'world' | 'commands' | 'isTrial'>

async function outcomeOf(
  typed: readonly string[],
  { world, commands, isTrial }: Surroundings,
): Promise<Invoked> {
  const argv = asHelpOption(unaliased(typed.map(asOperand), commands), commands)
  const session: Session = {
    argv,
    world,
    commands,
    isTrial,
    redactor: createRedactor(),
    status: 0,
    refusing: 'muster',
    keyPlace: () => undefined,
  }
  const program = buildProgram(session, await loadCommands(argv, commands))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return { status: session.status }
  } catch (error) {
    const isVerbose = program.opts().verbose === true || argv.includes('--verbose')
    const { keyPlace, refusing: command } = session
    const { exitCode, text } = describeFailure(error, {
      isVerbose,
      signal: world.signal,
      keyPlace,
      command,
    })
    if (text) showLine(gateFor(world.stderr, session.redactor), text)
    return { status: exitCode, reason: reasonIn(session.redactor.hide(text)) }
  }
}

const nowhere = { write: () => true }

async function refusalOf(
  argv: readonly string[],
  world: World,
  commands: CommandSet,
): Promise<string | undefined> {
  const silent = { ...world, stdout: nowhere, stderr: nowhere }
  const { status, reason } = await outcomeOf(argv, { world: silent, commands, isTrial: true })
  return status === 0 ? undefined : reason
}

/** No option has a blank after its dashes; a query may begin with a comment. */
const asOperand = (word: string): string => (/^--\s/.test(word) ? ` ${word}` : word)

/** Its first line; the others are causes. */
const reasonIn = (text: string): string => (text.split('\n')[0] ?? '').replace(/^muster: /, '')

interface Session {
  readonly argv: readonly string[]
  readonly world: World
  readonly commands: CommandSet
  readonly redactor: Redactor
  /** The words are read, and the command does not run. */
  readonly isTrial: boolean
  /** Where the settings of the command say that the key is. */
  keyPlace: () => string | undefined
  /** What the command returned. */
  status: ExitStatus
  /** The command whose usage was wrong. */
  refusing: string
}

const widthOf = ({ columns }: World['stdout']): number => columns ?? 100

function buildProgram(session: Session, loaded: readonly LoadedCommand[]): Command {
  const { world } = session
  const [stdout, stderr] = [escaping(world.stdout), escaping(world.stderr)]
  const program = new Command('muster')
    .description('Keeps an analytics warehouse in step with a Workforce and Programme Data API.')
    .version(programVersion, '--version', 'print the version')
    .showSuggestionAfterError(false)
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: command => command.name(),
      // Narrower columns than commander's 40 still break between words, where the terminal would cut them.
      minWidthToWrap: 20,
    })
    .configureOutput({
      writeOut: text => void stdout.write(text),
      writeErr: text => void stderr.write(text),
      outputError: () => {},
      getOutHelpWidth: () => widthOf(world.stdout),
      getErrHelpWidth: () => widthOf(world.stderr),
    })
    .addHelpText(
      'after',
      ({ error }) => `\n${wrapped(exitCodes, widthOf(error ? world.stderr : world.stdout))}`,
    )
  nameItself(program, 'muster', session)
  for (const option of globalOptions()) program.addOption(option)
  for (const one of loaded) addCommand(program, one, session)
  return program
}

function addCommand(program: Command, loaded: LoadedCommand, session: Session): void {
  const { name, summary, purpose, module } = loaded
  const words = name.split(' ')
  const command = parentFor(program, loaded, session)
    .command(words.at(-1) ?? name)
    .description(summary)
  if (words.length === 1) command.helpGroup(`${purpose}:`)
  nameItself(command, `muster ${name}`, session)
  if (module) complete(command, { module, aliases: loaded.aliases ?? [] }, session)
}

/** When its usage is wrong, its own help is the one to read. */
const nameItself = (command: Command, name: string, session: Session): Command =>
  command.exitOverride(error => {
    session.refusing = name
    throw suggesting(error, command)
  })

interface Completed {
  readonly module: CommandModule
  readonly aliases: readonly string[]
}

function complete(command: Command, { module, aliases }: Completed, session: Session): void {
  for (const { name, summary } of module.arguments ?? []) command.addArgument(argument(name, summary))
  for (const { flags, summary, parse, fallback } of module.options ?? []) {
    const option = new Option(flags, summary)
    const parser = parse ?? parserOf(flags)
    if (parser) option.argParser(parser)
    command.addOption(fallback === undefined ? option : option.default(fallback))
  }
  if (module.takesAll === true) command.option('--all', 'for every connection of the settings, two at a time')
  else if (module.takesAll) command.option('--all', 'a line for every connection of the settings')
  const { stdout, stderr } = session.world
  command.addHelpText('after', ({ error }) => helpAfter(module, aliases, widthOf(error ? stderr : stdout)))
  command.action(async () => {
    const context = await contextFor(session, command.optsWithGlobals())
    if (session.isTrial) {
      const { requireNames } = await import('./shell/require-names.ts')
      return requireNames(context, module, { processed: command.processedArgs, options: command.opts() })
    }
    session.keyPlace = () => context.keyPlace()
    const { whileHeld } = await import('./around/while-held.ts')
    const args = command.processedArgs.flat().filter(isText)
    if (typeof module.takesAll === 'function' && command.opts().all === true) {
      session.status = await module.takesAll(context, command.opts())
      return
    }
    if (module.takesAll && command.opts().all === true) {
      const { everyConnection } = await import('./around/every-connection.ts')
      session.status = await everyConnection(
        context,
        session.argv.filter(word => word !== '--all'),
      )
      return
    }
    const run = (own: CommandContext) => whileHeld(own, held => module.run(held, args, command.opts()))
    const { lineage } = module
    if (lineage === undefined) session.status = await run(context)
    else {
      const kind = () => (typeof lineage === 'function' ? lineage(context, command.opts()) : lineage)
      const { withLineage } = await import('./around/lineage.ts')
      const { parent } = command
      const group = parent?.parent ? [parent.name()] : []
      // A DAG is a job of its own; what a command was asked for is not.
      const name = [...group, command.name(), ...(group[0] === 'dag' ? args : [])].join('.')
      session.status = await withLineage(context, { kind, name }, run)
    }
  })
}

function parentFor(program: Command, { name, purpose }: LoadedCommand, session: Session): Command {
  const [group, isGrouped] = name.split(' ')
  if (group === undefined || isGrouped === undefined) return program
  const existing = program.commands.find(command => command.name() === group)
  if (existing) return existing
  const { groups } = session.commands
  const added = program
    .command(group)
    .description(groups[group] ?? '')
    .helpGroup(`${purpose}:`)
  return nameItself(added, `muster ${group}`, session)
}

/** Its parts are loaded by now only if a command runs: the help needs neither settings nor a log. */
async function contextFor(
  { world, commands, redactor }: Session,
  globals: Omit<GlobalOptions, 'wait'> & Options,
): Promise<CommandContext> {
  const [{ createContext }, { timeSpan }] = await Promise.all([
    import('./context.ts'),
    import('./command.ts'),
  ])
  const { config, connection, json, verbose, quiet, color, log } = globals
  const wait = typeof globals.wait === 'string' ? timeSpan(globals.wait) : undefined
  const shared = {
    ...(config !== undefined && { config }),
    ...(connection !== undefined && { connection }),
    ...(verbose !== undefined && { verbose }),
    ...(quiet !== undefined && { quiet }),
    ...(color !== undefined && { color }),
    ...(log !== undefined && { log }),
    ...(wait !== undefined && { wait }),
  }
  return createContext({
    world,
    redactor,
    globals: { ...shared, ...(json !== undefined && { json }) },
    program: {
      commandNames: Object.keys(commands.commands),
      set: commands,
      invoke: (argv, more, env) =>
        outcomeOf([...argv, ...asFlags({ ...more, ...shared })], {
          world: { ...world, ...(json && { stdout: world.stderr }), ...(env && { env }) },
          commands,
          isTrial: false,
        }),
      refusal: argv =>
        refusalOf([...argv, ...asFlags({ ...(config !== undefined && { config }) })], world, commands),
    },
  })
}

const isText = (value: unknown): value is string => typeof value === 'string'
