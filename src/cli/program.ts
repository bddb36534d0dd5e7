/** Runs the command that the arguments name and returns its exit code. */
import { Command, Option } from 'commander'
import type { ExitStatus } from '../lib/errors.ts'
import { programVersion } from '../lib/package.ts'
import { argument, type CommandModule, type CommandSet, type Options, parserOf } from './command.ts'
import type { CommandContext, CommandResult, GlobalOptions } from './context.ts'
import { describeFailure } from './failure.ts'
import { asFlags, exitCodes, globalOptions, unaliased } from './shell/global-options.ts'
import { asHelpOption, helpAfter, suggesting } from './shell/help.ts'
import { type LoadedCommand, loadCommands } from './shell/load-commands.ts'
import { createRedactor, gateFor, type Redactor } from './terminal/stderr-gate.ts'
import { escaping } from './terminal/terminal.ts'
import { showLine, wrapped } from './terminal/wrapped.ts'
import type { ProcessIo } from './world.ts'

/** Never throws: a failure is one line on stderr and an exit code. */
export const run = async (
  argv: readonly string[],
  world: ProcessIo,
  commands: CommandSet,
): Promise<ExitStatus> => (await outcomeOf(argv, { world, commands, isTrial: false })).status

type ProgramContext = Pick<ProgramSession, 'world' | 'commands' | 'isTrial'>

async function outcomeOf(
  typed: readonly string[],
  { world, commands, isTrial }: ProgramContext,
): Promise<CommandResult> {
  const argv = asHelpOption(unaliased(typed.map(asOperand), commands), commands)
  const session: ProgramSession = {
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
  world: ProcessIo,
  commands: CommandSet,
): Promise<string | undefined> {
  const silent = { ...world, stdout: nowhere, stderr: nowhere }
  const { status, reason } = await outcomeOf(argv, { world: silent, commands, isTrial: true })
  return status === 0 ? undefined : reason
}

/** Marks `-- comment` as an argument: a query may begin with a comment, and no option has a blank after its dashes. */
const asOperand = (word: string): string => (/^--\s/.test(word) ? ` ${word}` : word)

/** The first line of an error; the others are causes. */
const reasonIn = (text: string): string => (text.split('\n')[0] ?? '').replace(/^muster: /, '')

interface ProgramSession {
  readonly argv: readonly string[]
  readonly world: ProcessIo
  readonly commands: CommandSet
  readonly redactor: Redactor
  /** Parses the arguments without running the command. */
  readonly isTrial: boolean
  /** Where the settings say that the key is. */
  keyPlace: () => string | undefined
  /** What the command returned. */
  status: ExitStatus
  /** The command whose usage was wrong. */
  refusing: string
}

const widthOf = ({ columns }: ProcessIo['stdout']): number => columns ?? 100

function buildProgram(session: ProgramSession, loaded: readonly LoadedCommand[]): Command {
  const { world } = session
  const [stdout, stderr] = [escaping(world.stdout), escaping(world.stderr)]
  const program = new Command('muster')
    .description('Keeps an analytics warehouse in step with a Workforce and Programme Data API.')
    .version(programVersion, '--version', 'print the version')
    .showSuggestionAfterError(false)
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: command => command.name(),
      // Wraps columns narrower than commander's minimum of 40 too, so that the terminal does not cut words.
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

function addCommand(program: Command, loaded: LoadedCommand, session: ProgramSession): void {
  const { name, summary, purpose, module } = loaded
  const words = name.split(' ')
  const command = parentFor(program, loaded, session)
    .command(words.at(-1) ?? name)
    .description(summary)
  if (words.length === 1) command.helpGroup(`${purpose}:`)
  nameItself(command, `muster ${name}`, session)
  if (module) complete(command, { module, aliases: loaded.aliases ?? [] }, session)
}

/** On wrong usage, the error points to this command's own help. */
const nameItself = (command: Command, name: string, session: ProgramSession): Command =>
  command.exitOverride(error => {
    session.refusing = name
    throw suggesting(error, command)
  })

interface CompletedCommand {
  readonly module: CommandModule
  readonly aliases: readonly string[]
}

function complete(command: Command, { module, aliases }: CompletedCommand, session: ProgramSession): void {
  for (const { name, summary } of module.arguments ?? []) command.addArgument(argument(name, summary))
  for (const { flags, summary, parse, fallback } of module.options ?? []) {
    const option = new Option(flags, summary)
    const parser = parse ?? parserOf(flags)
    if (parser) option.argParser(parser)
    command.addOption(fallback === undefined ? option : option.default(fallback))
  }
  if (module.takesAll === true)
    command.option('--all', 'run for every connection in the settings, two at a time')
  else if (module.takesAll) command.option('--all', 'report on every connection in the settings')
  const { stdout, stderr } = session.world
  command.addHelpText('after', ({ error }) => helpAfter(module, aliases, widthOf(error ? stderr : stdout)))
  command.action(async () => {
    const context = await contextFor(session, command.optsWithGlobals())
    if (session.isTrial) {
      const { requireNames } = await import('./shell/require-names.ts')
      return requireNames(context, module, { processed: command.processedArgs, options: command.opts() })
    }
    session.keyPlace = () => context.keyPlace()
    const { retryWhileLocked } = await import('./wrappers/retry-while-locked.ts')
    const args = command.processedArgs.flat().filter(isText)
    if (typeof module.takesAll === 'function' && command.opts().all === true) {
      session.status = await module.takesAll(context, command.opts())
      return
    }
    if (module.takesAll && command.opts().all === true) {
      const { everyConnection } = await import('./wrappers/every-connection.ts')
      session.status = await everyConnection(
        context,
        session.argv.filter(word => word !== '--all'),
      )
      return
    }
    const attempt: Attempt = own => retryWhileLocked(own, one => module.run(one, args, command.opts()))
    const run = module.notifies && !context.isTask ? notifying(attempt) : attempt
    const { lineage } = module
    if (lineage === undefined) session.status = await run(context)
    else {
      const kind = () => (typeof lineage === 'function' ? lineage(context, command.opts()) : lineage)
      const { withLineage } = await import('./wrappers/lineage.ts')
      const { parent } = command
      const group = parent?.parent ? [parent.name()] : []
      // Each DAG is a job of its own in lineage; the arguments of other commands are not part of the name.
      const name = [...group, command.name(), ...(group[0] === 'dag' ? args : [])].join('.')
      session.status = await withLineage(context, { kind, name }, run)
    }
  })
}

type Attempt = (context: CommandContext) => Promise<ExitStatus>

const notifying =
  (attempt: Attempt): Attempt =>
  async context =>
    (await import('./wrappers/notifications.ts')).withNotifications(context, attempt)

function parentFor(program: Command, { name, purpose }: LoadedCommand, session: ProgramSession): Command {
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

/** Loaded only when a command runs: the help needs neither settings nor a log. */
async function contextFor(
  { world, commands, redactor }: ProgramSession,
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
      invoke: (argv, more, own) =>
        outcomeOf([...argv, ...asFlags({ ...more, ...shared })], {
          world: { ...world, ...(json && { stdout: world.stderr }), ...own },
          commands,
          isTrial: false,
        }),
      refusal: argv =>
        refusalOf([...argv, ...asFlags({ ...(config !== undefined && { config }) })], world, commands),
    },
  })
}

const isText = (value: unknown): value is string => typeof value === 'string'
