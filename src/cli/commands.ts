/** Every command of the program, loaded when it is needed: a new one is a file in `commands/` and a line here. */
import type { CommandModule } from './command.ts'

type CommandLoaders = Readonly<Record<string, () => Promise<{ readonly command: CommandModule }>>>

export interface CommandSet {
  /** By name, in the order of the help. */
  readonly loaders: CommandLoaders
  /** Summary of each group, such as `dag`. */
  readonly groups: Readonly<Record<string, string>>
}

export const commandSet: CommandSet = {
  loaders: {
    init: () => import('./commands/init.ts'),
    doctor: () => import('./commands/doctor.ts'),
    plan: () => import('./commands/plan.ts'),
    sync: () => import('./commands/sync.ts'),
    backfill: () => import('./commands/backfill.ts'),
    discover: () => import('./commands/discover.ts'),
    sweep: () => import('./commands/sweep.ts'),
    status: () => import('./commands/status.ts'),
    runs: () => import('./commands/runs.ts'),
    replay: () => import('./commands/replay.ts'),
    build: () => import('./commands/build.ts'),
    check: () => import('./commands/check.ts'),
    publish: () => import('./commands/publish.ts'),
    export: () => import('./commands/export.ts'),
    forget: () => import('./commands/forget.ts'),
    'audit-pii': () => import('./commands/audit-pii.ts'),
    retention: () => import('./commands/retention.ts'),
    copy: () => import('./commands/copy.ts'),
    roles: () => import('./commands/roles.ts'),
    sql: () => import('./commands/sql.ts'),
    metric: () => import('./commands/metric.ts'),
    crosscheck: () => import('./commands/crosscheck.ts'),
    docs: () => import('./commands/docs.ts'),
    mcp: () => import('./commands/mcp.ts'),
    get: () => import('./commands/get.ts'),
    'workers create': () => import('./commands/workers-create.ts'),
    'workers update': () => import('./commands/workers-update.ts'),
    'files upload': () => import('./commands/files-upload.ts'),
    'dag list': () => import('./commands/dag-list.ts'),
    'dag run': () => import('./commands/dag-run.ts'),
    serve: () => import('./commands/serve.ts'),
    sandbox: () => import('./commands/sandbox.ts'),
    demo: () => import('./commands/demo.ts'),
  },
  groups: {
    dag: 'list and run the DAGs of dags/',
    workers: 'create and update the workers of an agency',
    files: 'upload files for workers and invoices',
  },
}

/** The word after one of these is its value, not a command. */
const takingValues = ['--config', '--connection']

/** The commands that a command line can mean: all whose first word occurs in it; all commands when none does, for the help and for suggestions. */
function namesIn(argv: readonly string[], names: readonly string[]): readonly string[] {
  const words = argv.filter((_, index) => !takingValues.includes(argv[index - 1] ?? ''))
  const meant = names.filter(name => words.includes(name.split(' ')[0] ?? name))
  if (meant.length > 0 && !words.includes('help')) return meant
  return words.includes('--version') ? [] : names
}

/** Loads only the commands that the command line can mean, because each brings libraries that only it needs. */
export function loadCommands(argv: readonly string[], { loaders }: CommandSet): Promise<CommandModule[]> {
  const names = new Set(namesIn(argv, Object.keys(loaders)))
  const needed = Object.entries(loaders).filter(([name]) => names.has(name))
  return Promise.all(needed.map(async ([, load]) => (await load()).command))
}
