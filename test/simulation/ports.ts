/**
 * Patches every way in which a process reaches the outside world, so that each call becomes a step of the simulated process:
 * statements of both engines, files and requests. Code outside a simulated process is not affected.
 */
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import streams from 'node:stream/promises'
import { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api'
import pg from 'pg'
import { Wire, type WireRequest } from '../../src/api/client/wire.ts'
import { type Cleanup, current, type SimulatedProcess, type Step, type StepKind } from './process.ts'

type AnyFunction = (...args: never[]) => unknown

/** Replaces a method with the one that `make` returns for the original. */
function replace<Owner extends object>(
  owner: Owner,
  name: keyof Owner & string,
  make: (original: AnyFunction) => (this: unknown, ...args: never[]) => unknown,
): void {
  Object.assign(owner, { [name]: make(owner[name] as AnyFunction) })
}

const writes =
  /^\s*(insert|update|delete|create|drop|copy|attach|detach|alter|begin|checkpoint|truncate|analyze)/i

function kindOf(sql: string): StepKind {
  if (/^\s*commit/i.test(sql)) return 'commit'
  return writes.test(sql) || /\bon conflict\b/i.test(sql) ? 'write' : 'read'
}

const shortened = (sql: string): string => sql.replaceAll(/\s+/g, ' ').slice(0, 120)

/** Turns a call into a step of the process that makes it. */
function asStep(stepOf: (args: readonly never[]) => Step) {
  return (original: AnyFunction) =>
    function (this: unknown, ...args: never[]): unknown {
      const process = current()
      if (!process) return original.apply(this, args)
      return process.step(stepOf(args), async () => original.apply(this, args))
    }
}

/** The same for a synchronous call. */
function asImmediateStep(stepOf: (args: readonly never[]) => Step) {
  return (original: AnyFunction) =>
    function (this: unknown, ...args: never[]): unknown {
      const process = current()
      if (!process) return original.apply(this, args)
      return process.stepNow(stepOf(args), () => original.apply(this, args))
    }
}

const statement = ([sql]: readonly unknown[]): Step => {
  const text = String(sql)
  return { kind: kindOf(text), what: shortened(text) }
}

/** The methods before they are patched. */
export const originals = {
  run: DuckDBConnection.prototype.run,
  connect: DuckDBInstance.prototype.connect,
  closeSync: DuckDBInstance.prototype.closeSync,
  writeFileSync: fs.writeFileSync,
}

/** Closes the instance of a killed process without a checkpoint: only what was committed is left, in the file or its log. */
async function closeAfterKill(instance: DuckDBInstance, open: ReadonlySet<DuckDBConnection>): Promise<void> {
  const last = await originals.connect.call(instance)
  await originals.run.call(last, 'pragma disable_checkpoint_on_shutdown')
  for (const connection of open) connection.closeSync()
  originals.closeSync.call(instance)
}

/** Connects as a step of the process, and keeps track of its open connections. */
function connectAsStep(instance: DuckDBInstance, open: Set<DuckDBConnection>) {
  const connect = originals.connect.bind(instance)
  return async (): Promise<DuckDBConnection> => {
    const connection = await current()!.step({ kind: 'read', what: 'connect' }, connect)
    const close = connection.closeSync.bind(connection)
    connection.closeSync = () => {
      open.delete(connection)
      close()
    }
    open.add(connection)
    return connection
  }
}

/** Wraps an instance that outlives the process: when the process ends, only its connections are closed. */
function sharedInstance(instance: DuckDBInstance, cleanups: Set<Cleanup>): DuckDBInstance {
  const open = new Set<DuckDBConnection>()
  const closeSync = (): void => {
    for (const connection of [...open]) connection.closeSync()
  }
  cleanups.add(async () => closeSync())
  return { connect: connectAsStep(instance, open), closeSync } as DuckDBInstance
}

/** Closes the instance when its process is killed, and ignores a later close by code of that process. */
function ownInstance(instance: DuckDBInstance, cleanups: Set<Cleanup>): DuckDBInstance {
  const open = new Set<DuckDBConnection>()
  instance.connect = connectAsStep(instance, open)
  let isClosed = false
  const cleanUp = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await closeAfterKill(instance, open)
  }
  const close = instance.closeSync.bind(instance)
  instance.closeSync = () => {
    cleanups.delete(cleanUp)
    if (isClosed) return
    isClosed = true
    close()
  }
  cleanups.add(cleanUp)
  return instance
}

/** With so few rows a second thread would only wait; one thread saves a seventh of a seed's time. */
const oneThread = (sql: string): string => sql.replace(/set threads = \d+/, 'set threads = 1')

async function instanceFor(process: SimulatedProcess, make: () => Promise<DuckDBInstance>) {
  const { openWarehouse, cleanups } = process
  // Anything that a process opens besides its warehouse is closed with it.
  if (!openWarehouse?.isNext()) return ownInstance(await make(), cleanups)
  const { instance } = openWarehouse
  if (instance) await openWarehouse.detachStages()
  else openWarehouse.keep(await make())
  return sharedInstance(openWarehouse.instance!, cleanups)
}

/** The SQL of prepared statements. */
const prepared = new WeakMap<object, string>()

/** Prepared statements run on their own threads too, and must not run while their connection is closed. */
function patchPrepared(): void {
  replace(
    DuckDBConnection.prototype,
    'prepare',
    prepare =>
      async function (this: unknown, sql) {
        const process = current()
        if (!process) return prepare.call(this, sql)
        const step = { kind: 'read', what: `prepare ${shortened(sql)}` } as const
        const made = (await process.step(step, async () => prepare.call(this, sql))) as object
        prepared.set(made, sql)
        return made
      },
  )
  replace(
    DuckDBPreparedStatement.prototype,
    'run',
    run =>
      async function (this: unknown, ...args) {
        const process = current()
        if (!process) return run.apply(this, args)
        return process.step(statement([prepared.get(this as object)]), async () => run.apply(this, args))
      },
  )
}

function patchDuckdb(): void {
  patchPrepared()
  // `runAndReadAll` calls `run`, and then reads the rows, which takes time as well.
  for (const name of ['run', 'runAndReadAll'] as const)
    replace(DuckDBConnection.prototype, name, run => {
      const step = asStep(statement)(run) as AnyFunction
      return function (this: unknown, sql, ...args) {
        const rewritten = current()?.openWarehouse?.rewriteAttach(sql) ?? sql
        return step.call(this, oneThread(rewritten) as never, ...args)
      }
    })
  replace(DuckDBInstance, 'create', create => async (path, settings) => {
    const own = { ...(settings as object), threads: '1' } as never
    const make = async () => (await create.call(DuckDBInstance, path, own)) as DuckDBInstance
    const process = current()
    return process ? instanceFor(process, make) : make()
  })
}

/** Replaces the server's clock with simulated time. */
const atTime = (sql: string, iso: string): string =>
  sql.replaceAll('clock_timestamp()', `timestamptz '${iso}'`)

/**
 * Makes each statement a step. A stream that copies rows is not a step, because its pipeline is one. If the process is killed
 * before that step, the stream fails without a listener, so it gets one here.
 */
function patchPostgres(): void {
  replace(
    pg.Client.prototype,
    'query',
    query =>
      function (this: unknown, ...args: never[]) {
        const process = current()
        const [first] = args as readonly unknown[]
        if (process && first instanceof EventEmitter) first.on('error', () => undefined)
        if (!process || typeof first !== 'string') return query.apply(this, args)
        const [, ...values] = args
        return process.step(statement([first]), async () =>
          query.apply(this, [atTime(first, process.iso) as never, ...values]),
        )
      },
  )
  replace(
    pg.Client.prototype,
    'connect',
    connect =>
      async function (this: unknown, ...args: never[]) {
        const process = current()
        if (!process) return connect.apply(this, args)
        const client = this as { connection: { stream: { destroy(): void } } }
        process.cleanups.add(async () => void client.connection.stream.destroy())
        return process.step({ kind: 'read', what: 'connect' }, async () => connect.apply(this, args))
      },
  )
  replace(
    streams,
    'pipeline',
    asStep(() => ({ kind: 'write', what: 'copy rows' })),
  )
}

/** The folder to which simulated processes write. */
let simulatedFolder = ''

const isSimulatedPath = (path: unknown): boolean =>
  typeof path === 'string' && path.startsWith(simulatedFolder)

function fileStep(name: string): (args: readonly unknown[]) => Step {
  return ([path, content]) => ({
    kind: 'file',
    what: `${name} ${String(path).slice(simulatedFolder.length)}`,
    ...(name.startsWith('writeFile') && {
      half: () => {
        const bytes = Buffer.from(content as string)
        originals.writeFileSync(String(path), bytes.subarray(0, bytes.length >> 1))
      },
    }),
  })
}

function patchFiles(): void {
  const onSimulatedPaths = (original: AnyFunction, patched: AnyFunction) =>
    function (this: unknown, ...args: never[]) {
      return (isSimulatedPath(args[0]) ? patched : original).apply(this, args)
    }
  for (const name of ['writeFile', 'rename', 'rm'] as const)
    replace(fs.promises, name, original => onSimulatedPaths(original, asStep(fileStep(name))(original)))
  for (const name of ['writeFileSync', 'renameSync', 'rmSync', 'mkdirSync', 'rmdirSync'] as const)
    replace(fs, name, original => onSimulatedPaths(original, asImmediateStep(fileStep(name))(original)))
  syncBuiltinESMExports()
}

function patchRequests(): void {
  replace(
    Wire.prototype,
    'send',
    asStep(([exchange]: readonly unknown[]) => {
      const { method, path, query } = exchange as WireRequest
      return { kind: 'request', what: `${method} ${path} ${JSON.stringify(query)}` }
    }),
  )
}

/** Call once, before anything is opened. `folder` is where simulated processes write. */
export function patchPorts(folder: string): void {
  simulatedFolder = folder
  patchDuckdb()
  patchPostgres()
  patchFiles()
  patchRequests()
}
