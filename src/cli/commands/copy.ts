/** `muster copy`: copies a warehouse to another engine or place, with its watermarks. */
import { existsSync, statSync } from 'node:fs'
import { stemOf } from '../../app/connection/storage.ts'
import type { StoredConnection } from '../../config/connection.ts'
import type { Secret } from '../../config/secrets.ts'
import { parseWarehouse, passwordIn, type Warehouse } from '../../config/warehouse-url.ts'
import { waitingFiles } from '../../events/event-log.ts'
import { counted } from '../../lib/counted.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { type CopiedRows, copyWarehouse } from '../../publish/copy.ts'
import {
  type CopyTarget,
  fileSource,
  fileTarget,
  serverSource,
  serverTarget,
} from '../../publish/copy-ends.ts'
import { recordOutput } from '../../publish/outputs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { serverAddress } from '../../warehouse/postgres/address.ts'
import type { PostgresOptions } from '../../warehouse/postgres/open.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { readableSettings, requireRoomFor } from '../guarded.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'

interface CopyEnd {
  readonly warehouse: Warehouse
  readonly options: PostgresOptions
}

function readCopyEnd(context: CommandContext, options: Options, end: 'from' | 'to'): CopyEnd {
  const text = textOption(options, end) ?? ''
  const password = passwordIn(text)
  if (password) context.hide(password)
  const warehouse = parseWarehouse(text, context.cwd)
  if (!warehouse)
    throw new UsageError({
      what: `--${end} names no warehouse`,
      next: 'write duckdb:FILE or postgres://USER@HOST:PORT/DATABASE',
    })
  const prefix = textOption(options, `${end}Prefix`)
  return {
    warehouse,
    options: { scratch: context.cwd, ...(prefix !== undefined && { schemaPrefix: prefix }) },
  }
}

function openTarget({ warehouse, options }: CopyEnd, now: string): Promise<CopyTarget> {
  if (warehouse.kind === 'file') return fileTarget(warehouse.file, now)
  return serverTarget({ url: warehouse.url.reveal(), shown: warehouse.shown }, options, now)
}

function openSource({ warehouse, options }: CopyEnd, target: Engine) {
  if (warehouse.kind === 'file') return fileSource(warehouse.file, target)
  return serverSource({ url: warehouse.url.reveal(), shown: warehouse.shown }, options, target)
}

const beside = (file: string, what: string): string => `${file.replace(/\.duckdb$/, '')}.${what}`

/** Events in the log beside a file are not copied, so the log must be empty. */
function requireDrained({ warehouse }: CopyEnd): void {
  const inbox = warehouse.kind === 'file' ? beside(warehouse.file, 'inbox') : ''
  if (!existsSync(inbox) || waitingFiles(inbox).length === 0) return
  throw new MusterError({
    what: 'the log beside the warehouse has events that are not loaded yet',
    where: inbox,
    next: 'start muster serve, which loads them, stop it, then copy; nothing was changed',
  })
}

function requireDifferent(from: CopyEnd, to: CopyEnd): void {
  const [one, other] = [from, to].map(({ warehouse, options }) =>
    warehouse.kind === 'file' ? warehouse.file : `${warehouse.shown} ${options.schemaPrefix ?? ''}`,
  )
  if (one !== other) return
  throw new UsageError({
    what: '--from and --to name the same warehouse',
    next: 'name another one to copy to',
  })
}

const addressOf = (url: Secret): string => {
  const { host, port, database } = serverAddress(url.reveal())
  return `${host}:${port}/${database}`
}

/** Connections of the settings whose server and prefix the copy reads from. */
function connectionsTo(context: CommandContext, url: Secret, prefix: string): readonly StoredConnection[] {
  const all = [...(readableSettings(context)?.connections.values() ?? [])]
  return all.filter(
    ({ warehouse, schemaPrefix = '' }) =>
      warehouse.kind === 'server' && schemaPrefix === prefix && addressOf(warehouse.url) === addressOf(url),
  )
}

/** Paths whose output lists must name the copy, so that forgetting a person reaches it. */
const listsOf = (context: CommandContext, { warehouse, options }: CopyEnd): readonly string[] =>
  warehouse.kind === 'file'
    ? [warehouse.file]
    : connectionsTo(context, warehouse.url, options.schemaPrefix ?? '').map(stemOf)

async function copyBetween(
  context: CommandContext,
  { from, to, lists }: { readonly from: CopyEnd; readonly to: CopyEnd; readonly lists: readonly string[] },
): Promise<CopiedRows[]> {
  const target = await openTarget(to, new Date(context.clock.now()).toISOString())
  let copied: CopiedRows[]
  const progress = createProgress(context)
  try {
    // Listed before the source is read, while the copy is locked: a `forget` that starts now includes the copy or waits
    // for it.
    if (to.warehouse.kind === 'file')
      for (const list of lists)
        recordOutput(list, { place: to.warehouse.file, made: 'copy', includesPii: true })
    const source = await openSource(from, target.engine)
    try {
      copied = await copyWarehouse(source, target.engine, ({ table, rows }) => {
        context.signal.throwIfAborted()
        if (rows > 0)
          progress.update({ resource: table, state: 'done', rows, isMinor: !context.globals.verbose })
      })
    } finally {
      await source.close()
    }
    progress.stop()
  } catch (error) {
    progress.stop()
    await target.abandon()
    throw error
  }
  await target.finish()
  return copied
}

/** A copy of a file takes about as much room as the file; rows of a server pass through a temporary folder. */
function requireRoomIn(context: CommandContext, from: CopyEnd, to: CopyEnd): void {
  const bytes = from.warehouse.kind === 'file' ? sizeOf(from.warehouse.file) : 0
  if (to.warehouse.kind === 'file') requireRoomFor(context, to.warehouse.file, bytes)
  else requireRoomFor(context, context.cwd)
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** The landed pages of the source stay where they are; the settings of the target must name the same folder. */
const landingAdvice = ({ warehouse }: CopyEnd): string =>
  warehouse.kind === 'file'
    ? `the landed pages stay in ${beside(warehouse.file, 'landing')} (or where landing says): name that place as landing in the new connection`
    : 'the landed pages stay where landing of the old connection says: name the same place in the new one'

export const command: CommandModule = {
  options: [
    { flags: '--from <warehouse>', summary: 'warehouse to read: duckdb:FILE or postgres://…' },
    { flags: '--to <warehouse>', summary: 'empty warehouse to write, in the same form' },
    { flags: '--from-prefix <text>', summary: 'schemaPrefix of the warehouse to copy from' },
    { flags: '--to-prefix <text>', summary: 'schemaPrefix of the warehouse to copy to' },
  ],
  examples: ['muster copy --from duckdb:data/acme.duckdb --to postgres://muster@db.example.com/analytics'],
  async run(context, _args, options) {
    const [from, to] = [readCopyEnd(context, options, 'from'), readCopyEnd(context, options, 'to')]
    requireDifferent(from, to)
    requireDrained(from)
    requireRoomIn(context, from, to)
    const lists = to.warehouse.kind === 'file' ? listsOf(context, from) : []
    const copied = await copyBetween(context, { from, to, lists })
    const rows = copied.reduce((sum, one) => sum + one.rows, 0)
    const landing = landingAdvice(from)
    const isReachedByForget = lists.length > 0
    if (!isReachedByForget)
      context.notice('muster forget does not reach this copy: forget people there as well')
    if (context.json) printJson(context, { tables: copied, rows, landing, isReachedByForget })
    else
      printLine(
        context,
        `copied ${copied.length} tables, ${counted(rows, 'row')}, the same number in both; ${landing}`,
      )
    return 0
  },
}
