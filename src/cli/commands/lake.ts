/** `muster lake`: publishes star and mart as Delta tables that other engines read, and shows, checks or vacuums them. */
import { requireRoom } from '../../app/connection/storage.ts'
import {
  damageOf,
  lakeAddresses,
  lakeFolders,
  publishLake,
  readLakes,
  requireLake,
  vacuumLakes,
} from '../../app/lake.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { type ExitStatus, UsageError } from '../../lib/errors.ts'
import { anyText, type CommandModule, flagOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { incompleteLines } from '../reports/incomplete.ts'
import { lakeLine } from '../reports/lake-line.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

async function publish(context: CommandContext, options: Options): Promise<0> {
  const connection = context.stored()
  requireRoom(connection, ...lakeFolders(connection))
  const made = await publishLake(connection, context, {
    takesOver: flagOption(options, 'takeOver'),
    onTable: ({ table, filesWritten, bytesWritten }) =>
      context.log.debug({ table, files: filesWritten, bytes: bytesWritten }, 'published'),
  })
  const addresses = lakeAddresses(connection)
  if (context.json) {
    printJson(
      context,
      made.map((one, at) => ({ address: addresses[at], ...one })),
    )
    return 0
  }
  const incomplete = made[0]?.snapshot.incomplete ?? []
  for (const line of incompleteLines(incomplete.map(one => ({ ...one, seen: null, expected: null }))))
    printLine(context, line)
  for (const [at, { snapshot, isNew, filesWritten, bytesWritten }] of made.entries()) {
    const tables = `${Object.keys(snapshot.tables).length} tables`
    const written = `${counted(filesWritten, 'file')}, ${megabytes(bytesWritten)} written`
    const what = isNew ? `published ${tables}, ${written}` : `nothing has changed in ${tables}`
    printLine(context, `${what}: ${addresses[at]}`)
  }
  return 0
}

async function status(context: CommandContext): Promise<0> {
  const lakes = await readLakes(context.stored(), context)
  if (context.json)
    printJson(
      context,
      lakes.map(({ address, snapshot }) => ({ address, snapshot: snapshot ?? null })),
    )
  else for (const lake of lakes) printLine(context, lakeLine(lake, context.clock.now()))
  return 0
}

async function snapshot(context: CommandContext, options: Options): Promise<0> {
  const run = textOption(options, 'run')
  const lakes = await readLakes(context.stored(), { signal: context.signal, run })
  const found = lakes.flatMap(({ address, snapshot }) => (snapshot ? [{ address, ...snapshot }] : []))
  if (found.length === 0)
    throw new UsageError({
      what: run === undefined ? 'nothing was published yet' : `the lake has no snapshot of run ${run}`,
      where: lakes[0]?.address ?? '',
      next: run === undefined ? 'run muster lake publish' : 'leave out --run for the last one',
    })
  if (context.json) {
    printJson(context, found)
    return 0
  }
  for (const { address, connection, run, asOf, complete, tables } of found) {
    printLine(context, `${address}: ${connection}, run ${run}, data as of ${asOf ?? 'no finished sync'}`)
    printLine(context, complete ? 'every resource is complete' : 'not complete: see incomplete in --json')
    printTable(
      context,
      ['table', 'version', 'rows', { title: 'sha256', drop: 1 }],
      Object.entries(tables).map(([name, { version, rows, sha256 }]) => [name, version, rows, sha256]),
    )
  }
  return 0
}

async function check(context: CommandContext): Promise<ExitStatus> {
  const damage = await damageOf(context.stored(), context)
  if (context.json) printJson(context, { ok: damage.length === 0, damage })
  else if (damage.length === 0) printLine(context, 'every file of the lake is as it was published')
  else
    for (const { table, place, found, next } of damage)
      printLine(context, `${table}: ${found} (${place}): ${next}`)
  return damage.length === 0 ? 0 : 3
}

async function vacuum(context: CommandContext): Promise<0> {
  const done = await vacuumLakes(context.stored(), context)
  if (context.json) {
    printJson(context, done)
    return 0
  }
  for (const [at, { files, bytes, commits, snapshots }] of done.entries()) {
    const parts = `${counted(files, 'file')} (${megabytes(bytes)}), ${formatNumber(commits)} entries of logs`
    printLine(
      context,
      `removed ${parts}, ${counted(snapshots, 'snapshot')}: ${lakeAddresses(context.stored())[at]}`,
    )
  }
  return 0
}

/** Tasks of the DAGs do not fail where no lake is set. */
const harmless: readonly string[] = ['publish', 'vacuum']

function notNeeded(context: CommandContext): 0 {
  const why = 'nothing to do: the settings name no lake'
  if (context.json) printJson(context, { done: false, why })
  else printLine(context, why)
  return 0
}

const actions: Readonly<Record<string, (context: CommandContext, options: Options) => Promise<ExitStatus>>> =
  { publish, status, snapshot, check, vacuum }

export const command: CommandModule = {
  arguments: [{ name: '<action>', summary: 'what to do', choices: Object.keys(actions) }],
  options: [
    { flags: '--run <id>', summary: 'with snapshot: that of this run instead of the last', parse: anyText },
    {
      flags: '--take-over',
      summary: 'with publish: replace rows of a warehouse that is gone, or of a former name',
    },
  ],
  notes: [
    'publish writes files whose rows changed, a commit for each table, and a snapshot that names their versions.',
    'status shows the last snapshot, snapshot prints it, check reads every file again and exits with 3 if one is damaged,',
    'and vacuum removes versions older than lakeRetentionDays.',
  ],
  lineage: 'none',
  takesAll: true,
  examples: ['muster lake publish', 'muster lake snapshot --json', 'muster lake check', 'muster lake vacuum'],
  async run(context, [name = ''], options) {
    const action = actions[name]
    if (!action)
      throw new UsageError({
        what: `muster lake cannot ${JSON.stringify(name)}`,
        next: `name one of ${Object.keys(actions).join(', ')}`,
      })
    if (!context.stored().lake && harmless.includes(name)) return notNeeded(context)
    requireLake(context.stored())
    return action(context, options)
  },
}
