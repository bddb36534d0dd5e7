/** What was written from a warehouse, after somebody was forgotten in it: each place is written anew, or told to people. */
import { existsSync } from 'node:fs'
import type { Connection, StoredConnection } from '../../config/connection.ts'
import { ConfigError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { type ForgetEffects, type ForgetRequest, finishForgetting, forget } from '../../privacy/forget.ts'
import { exportParquet, monthRowsUnlessGiven } from '../../publish/export/export.ts'
import { type Output, outputsOf } from '../../publish/outputs.ts'
import { publish } from '../../publish/publish.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { isEncrypted } from '../../warehouse/duckdb/encrypted-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, rewriteFile } from '../../warehouse/on-demand.ts'
import { publishCompany } from '../company-copy/company-copy.ts'
import { fileKey } from '../connection/file-key.ts'
import { stemOf } from '../connection/outputs-list.ts'
import { duckdbFile } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'

export type ForgetOptions = Pick<ForgetRequest, 'person' | 'allowsReturn' | 'acceptLoss' | 'isDry'>

export interface ForgetAround extends Surroundings, Pick<ForgetEffects, 'onScan'> {
  /** Called before each step that may take long. */
  readonly onStep: (step: string) => void
}

export interface Job {
  readonly connection: Connection
  readonly options: ForgetOptions
  readonly around: ForgetAround
}

export interface Places {
  /** Exports and copies that are written anew, and the published copy. */
  readonly outputs: readonly string[]
  /** Answers of queries, which only the query could write anew. */
  readonly unreached: readonly string[]
}

const publishedCopy = (connection: StoredConnection): string | undefined => {
  const file = duckdbFile(connection)
  const copy = file === undefined ? undefined : publishedFile(file)
  return copy !== undefined && existsSync(copy) ? copy : undefined
}

export function placesOf(connection: StoredConnection): Places {
  const listed = outputsOf(stemOf(connection))
  const of = (isAnswer: boolean): string[] =>
    listed.filter(({ made }) => (made === 'answer') === isAnswer).map(({ place }) => place)
  const copy = publishedCopy(connection)
  return { outputs: [...of(false), ...(copy === undefined ? [] : [copy])], unreached: of(true) }
}

/** With the key of the warehouse: there is no place to name that of a copy. */
async function openCopy(file: string, key: string | undefined): Promise<Engine> {
  try {
    return await openDuckdb(file, { key })
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError({
      what: `this copy cannot be opened, so it still holds the person: ${cause.report.what}`,
      where: file,
      next: 'remove it, or make it anew with the key of the warehouse; then run the same command again',
      cause,
    })
  }
}

async function forgetInCopy({ connection, options, around }: Job, file: string): Promise<void> {
  // A copy may be of before the warehouse had a key, or may have been made without one.
  const key = isEncrypted(file) ? fileKey(connection) : undefined
  const engine = await openCopy(file, key)
  try {
    if (!(await existingTables(engine)).has('migration')) {
      around.onStep(`${file} is no copy any more, and is left as it is`)
      return
    }
    await migrate(engine, new Date(around.clock.now()).toISOString())
    const effects = { engine, ...around }
    const request = { ...options, landing: `${file}.landing`, mayBeUnknown: true }
    await forget(effects, request)
    await finishForgetting(effects, request)
  } finally {
    await engine.close()
  }
  await rewriteFile(file, { key })
}

/** While the warehouse is held: what is read from it is without the person. */
export async function writeAnew(job: Job, engine: Engine): Promise<void> {
  const { connection, around } = job
  const exportInto = ({ place, includesPii }: Output) =>
    exportParquet(
      { engine, ...around, version: programVersion, onTable: () => undefined },
      { folder: place, includePii: includesPii, monthRows: monthRowsUnlessGiven },
    )
  for (const output of outputsOf(stemOf(connection))) {
    if (output.made !== 'copy' && output.made !== 'export') continue
    around.onStep(`writing ${output.place} anew`)
    await (output.made === 'copy' ? forgetInCopy(job, output.place) : exportInto(output))
  }
  const copy = publishedCopy(connection)
  if (copy === undefined) return
  around.onStep(`writing ${copy} anew`)
  await publish({ engine, ...around, version: programVersion })
}

/** Copies for one company, which open the warehouse themselves. */
export async function publishAnew({ connection, around }: Job): Promise<void> {
  for (const { made, company, place } of outputsOf(stemOf(connection))) {
    if (made !== 'company' || company === undefined) continue
    around.onStep(`writing ${place} anew`)
    const request = { company, file: place, requiresWhole: false, isForced: false }
    await publishCompany(connection, request, { ...around, onStep: () => undefined })
  }
}
