/**
 * The ways out of a process, each of which becomes a step of the simulated one: statements of both engines, files, requests.
 * What runs outside of a simulated process goes on as it is.
 */
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import streams from 'node:stream/promises'
import { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api'
import pg from 'pg'
import { Wire, type WireRequest } from '../../src/api/client/wire.ts'
import { type Belonging, current, type SimulatedProcess, type Step, type StepKind } from './process.ts'

type Anything = (...given: never[]) => unknown

/** Replaces a method by one that is told the original and the call. */
function replace<Owner extends object>(
  owner: Owner,
  name: keyof Owner & string,
  make: (original: Anything) => (this: unknown, ...given: never[]) => unknown,
): void {
  Object.assign(owner, { [name]: make(owner[name] as Anything) })
}

const writes =
  /^\s*(insert|update|delete|create|drop|copy|attach|detach|alter|begin|checkpoint|truncate|analyze)/i

function kindOf(sql: string): StepKind {
  if (/^\s*commit/i.test(sql)) return 'commit'
  return writes.test(sql) || /\bon conflict\b/i.test(sql) ? 'write' : 'read'
}

const shown = (sql: string): string => sql.replaceAll(/\s+/g, ' ').slice(0, 120)

/** The call as a step of the process that makes it. */
function asStep(stepOf: (given: readonly never[]) => Step) {
  return (original: Anything) =>
    function (this: unknown, ...given: never[]): unknown {
      const process = current()
      if (!process) return original.apply(this, given)
      return process.step(stepOf(given), async () => original.apply(this, given))
    }
}

/** The same for a call that returns at once. */
function asStepNow(stepOf: (given: readonly never[]) => Step) {
  return (original: Anything) =>
    function (this: unknown, ...given: never[]): unknown {
      const process = current()
      if (!process) return original.apply(this, given)
      return process.stepNow(stepOf(given), () => original.apply(this, given))
    }
}

const statement = ([sql]: readonly unknown[]): Step => {
  const text = String(sql)
  return { kind: kindOf(text), what: shown(text) }
}

/** As they are without the simulation. */
export const originals = {
  run: DuckDBConnection.prototype.run,
  connect: DuckDBInstance.prototype.connect,
  closeSync: DuckDBInstance.prototype.closeSync,
  writeFileSync: fs.writeFileSync,
}

/** What is committed lies in the file or in its log, and nothing else is left of a process that was killed. */
async function abandon(instance: DuckDBInstance, open: ReadonlySet<DuckDBConnection>): Promise<void> {
  const last = await originals.connect.call(instance)
  await originals.run.call(last, 'pragma disable_checkpoint_on_shutdown')
  for (const connection of open) connection.closeSync()
  originals.closeSync.call(instance)
}

/** Connects as a step of a process, and knows its connections until they are closed. */
function connecting(instance: DuckDBInstance, open: Set<DuckDBConnection>) {
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

/** What a process sees of an instance that is not its own: when it ends, only its connections are closed. */
function shared(instance: DuckDBInstance, belongings: Set<Belonging>): DuckDBInstance {
  const open = new Set<DuckDBConnection>()
  const closeSync = (): void => {
    for (const connection of [...open]) connection.closeSync()
  }
  belongings.add(async () => closeSync())
  return { connect: connecting(instance, open), closeSync } as DuckDBInstance
}

/** An instance that ends with its process: what that closes as it unwinds from its death is closed already. */
function watched(instance: DuckDBInstance, belongings: Set<Belonging>): DuckDBInstance {
  const open = new Set<DuckDBConnection>()
  instance.connect = connecting(instance, open)
  let hasEnded = false
  const leave = async (): Promise<void> => {
    if (hasEnded) return
    hasEnded = true
    await abandon(instance, open)
  }
  const close = instance.closeSync.bind(instance)
  instance.closeSync = () => {
    belongings.delete(leave)
    if (hasEnded) return
    hasEnded = true
    close()
  }
  belongings.add(leave)
  return instance
}

/** Statements over a few rows: a second thread only waits, at the price of a core; a seventh of a seed's time. */
const oneThread = (sql: string): string => sql.replace(/set threads = \d+/, 'set threads = 1')

async function instanceFor(process: SimulatedProcess, make: () => Promise<DuckDBInstance>) {
  const { kept, belongings } = process
  // Whatever a process opens besides its warehouse ends with it.
  if (!kept?.takesNext()) return watched(await make(), belongings)
  const { instance } = kept
  if (instance) await kept.tidy()
  else kept.keep(await make())
  return shared(kept.instance!, belongings)
}

/** The SQL of statements that were prepared by a process. */
const prepared = new WeakMap<object, string>()

/** What is prepared runs on threads of its own as well: a connection that is closed meanwhile would take it along. */
function patchPrepared(): void {
  replace(
    DuckDBConnection.prototype,
    'prepare',
    prepare =>
      async function (this: unknown, sql) {
        const process = current()
        if (!process) return prepare.call(this, sql)
        const step = { kind: 'read', what: `prepare ${shown(sql)}` } as const
        const made = (await process.step(step, async () => prepare.call(this, sql))) as object
        prepared.set(made, sql)
        return made
      },
  )
  replace(
    DuckDBPreparedStatement.prototype,
    'run',
    run =>
      async function (this: unknown, ...given) {
        const process = current()
        if (!process) return run.apply(this, given)
        return process.step(statement([prepared.get(this as object)]), async () => run.apply(this, given))
      },
  )
}

function patchDuckdb(): void {
  patchPrepared()
  // The second calls the first, and reads the rows, which takes time as well.
  for (const name of ['run', 'runAndReadAll'] as const)
    replace(DuckDBConnection.prototype, name, run => {
      const step = asStep(statement)(run) as Anything
      return function (this: unknown, sql, ...given) {
        const put = current()?.kept?.attaching(sql) ?? sql
        return step.call(this, oneThread(put) as never, ...given)
      }
    })
  replace(DuckDBInstance, 'create', create => async (path, settings) => {
    const own = { ...(settings as object), threads: '1' } as never
    const make = async () => (await create.call(DuckDBInstance, path, own)) as DuckDBInstance
    const process = current()
    return process ? instanceFor(process, make) : make()
  })
}

/** The clock of the server is the simulated one too. */
const atTime = (sql: string, iso: string): string =>
  sql.replaceAll('clock_timestamp()', `timestamptz '${iso}'`)

/**
 * A statement, or a stream that copies rows, whose own step is the pipeline that it is part of: a process that is killed
 * before that step leaves a stream whose failure nobody is there to hear.
 */
function patchPostgres(): void {
  replace(
    pg.Client.prototype,
    'query',
    query =>
      function (this: unknown, ...given: never[]) {
        const process = current()
        const [first] = given as readonly unknown[]
        if (process && first instanceof EventEmitter) first.on('error', () => undefined)
        if (!process || typeof first !== 'string') return query.apply(this, given)
        const [, ...values] = given
        return process.step(statement([first]), async () =>
          query.apply(this, [atTime(first, process.iso) as never, ...values]),
        )
      },
  )
  replace(
    pg.Client.prototype,
    'connect',
    connect =>
      async function (this: unknown, ...given: never[]) {
        const process = current()
        if (!process) return connect.apply(this, given)
        const client = this as { connection: { stream: { destroy(): void } } }
        process.belongings.add(async () => void client.connection.stream.destroy())
        return process.step({ kind: 'read', what: 'connect' }, async () => connect.apply(this, given))
      },
  )
  replace(
    streams,
    'pipeline',
    asStep(() => ({ kind: 'write', what: 'copy rows' })),
  )
}

/** Below this folder lies what simulated processes write. */
let ours = ''

const isOurs = (path: unknown): boolean => typeof path === 'string' && path.startsWith(ours)

function fileStep(name: string): (given: readonly unknown[]) => Step {
  return ([path, content]) => ({
    kind: 'file',
    what: `${name} ${String(path).slice(ours.length)}`,
    ...(name.startsWith('writeFile') && {
      half: () => {
        const bytes = Buffer.from(content as string)
        originals.writeFileSync(String(path), bytes.subarray(0, bytes.length >> 1))
      },
    }),
  })
}

function patchFiles(): void {
  const ofOurs = (original: Anything, patched: Anything) =>
    function (this: unknown, ...given: never[]) {
      return (isOurs(given[0]) ? patched : original).apply(this, given)
    }
  for (const name of ['writeFile', 'rename', 'rm'] as const)
    replace(fs.promises, name, original => ofOurs(original, asStep(fileStep(name))(original)))
  for (const name of ['writeFileSync', 'renameSync', 'rmSync', 'mkdirSync', 'rmdirSync'] as const)
    replace(fs, name, original => ofOurs(original, asStepNow(fileStep(name))(original)))
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

/** Once, before anything is opened; `folder` is where simulated processes write. */
export function takePorts(folder: string): void {
  ours = folder
  patchDuckdb()
  patchPostgres()
  patchFiles()
  patchRequests()
}
