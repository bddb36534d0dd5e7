/** Publishes a copy for one company: its rows of star and the marts built over them, and nothing of other companies. */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { StoredConnection } from '../config/connection.ts'
import type { Clock } from '../lib/clock.ts'
import { MusterError, UsageError } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { nearest } from '../lib/text/nearest.ts'
import type { BuildEffects, MartResult } from '../marts/build.ts'
import { copyCompany, dropUnshown, requireNoOthers } from '../publish/company-rows.ts'
import type { CopySource } from '../publish/copy.ts'
import { fileSource, serverSource } from '../publish/copy-ends.ts'
import { recordOutput } from '../publish/outputs.ts'
import {
  failureOf,
  putInPlace,
  requireCompleteSources,
  requirePublished,
  requireTolerable,
} from '../publish/publish.ts'
import { type PublishedTable, writeCopy } from '../publish/published-tables.ts'
import { migrate } from '../state/migrate.ts'
import { type IncompleteResource, incompleteResources } from '../state/scans/completeness.ts'
import { makeScratch } from '../temporary/scratch.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../warehouse/on-demand.ts'
import { buildAllMarts } from './all-marts.ts'
import { duckdbFile, postgresTarget } from './connection/storage.ts'

export interface CopiedCompany {
  readonly id: string
  readonly name: string
}

export interface CompanyCopy {
  readonly company: CopiedCompany
  readonly file: string
  readonly bytes: number
  readonly tables: readonly PublishedTable[]
  readonly views: readonly string[]
  /** Marts that could not be built from the company's rows, with the reason. */
  readonly leftOut: readonly Pick<MartResult, 'name' | 'message'>[]
  readonly incomplete: readonly IncompleteResource[]
}

export interface CompanyCopyRequest {
  readonly company: string
  readonly file: string
  readonly requiresComplete: boolean
  /** Replaces even a file that is not a published copy. */
  readonly isForced: boolean
  /** The file beside which the list of outputs is; left out if the copy is listed already. */
  readonly listedOf?: string
}

export interface CompanyCopyEffects {
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  /** Called with each table and each mart. */
  readonly onStep: (name: string, rows: number) => void
}

interface CompanyLookup {
  readonly company: CopiedCompany
  readonly others: readonly string[]
  readonly incomplete: readonly IncompleteResource[]
}

const openSource = (connection: StoredConnection): Promise<Engine> => {
  const place = postgresTarget(connection)
  if (place) return openPostgres(place.address, place.options)
  return openDuckdb(duckdbFile(connection) ?? '', { readOnly: true })
}

/** Throws UsageError that suggests the company probably meant, by id or name. */
function companyNamed(given: string, companies: readonly CopiedCompany[]): CopiedCompany {
  const found = companies.find(({ id }) => id === given)
  if (found) return found
  const what = `there is no company ${given}`
  if (companies.length === 0)
    throw new UsageError({ what, next: 'run muster sync first: no company was read yet' })
  const same = companies.filter(({ name }) => name.toLowerCase() === given.toLowerCase())
  const near = nearest(
    given,
    companies.flatMap(({ id, name }) => [id, name]),
  )
  const meant = same[0] ?? companies.find(({ id, name }) => id === near || name === near)
  const shown = ({ id, name }: CopiedCompany): string => `${id} (${name})`
  const listed = companies.slice(0, 5).map(shown).join(', ')
  const more = companies.length > 5 ? ` or one of ${companies.length - 5} others, see mart.dim_company` : ''
  throw new UsageError({
    what,
    next: meant ? `did you mean ${shown(meant)}?` : `name one by its id: ${listed}${more}`,
  })
}

async function look(connection: StoredConnection, request: CompanyCopyRequest): Promise<CompanyLookup> {
  const engine = await openSource(connection)
  try {
    await engine.requireReader()
    const companies = await engine.rows<CopiedCompany>(
      `select company_id as id, coalesce(name, company_id) as name from star.dim_company
       where company_id <> '-1' order by name, company_id`,
    )
    const company = companyNamed(request.company, companies)
    await requireTolerable(engine)
    if (request.requiresComplete) await requireCompleteSources(engine)
    const others = companies.map(({ id }) => id).filter(id => id !== company.id)
    return { company, others, incomplete: (await incompleteResources(engine)) ?? [] }
  } finally {
    await engine.close()
  }
}

async function withSource<Result>(
  connection: StoredConnection,
  target: Engine,
  work: (source: CopySource) => Promise<Result>,
): Promise<Result> {
  const place = postgresTarget(connection)
  const source = place
    ? await serverSource(place.address, place.options, target)
    : await fileSource(duckdbFile(connection) ?? '', target)
  try {
    return await work(source)
  } finally {
    await source.close()
  }
}

async function buildOver(
  engine: Engine,
  connection: StoredConnection,
  { clock, rng, signal, onStep }: CompanyCopyEffects,
): Promise<CompanyCopy['leftOut']> {
  const onMart: BuildEffects['onMart'] = one => {
    if (one.state !== 'building') onStep(`mart.${one.name}`, one.rows ?? 0)
  }
  const built = await buildAllMarts({ engine, clock, rng, signal, onMart }, connection)
  return built.filter(({ state }) => state !== 'built')
}

/** Leaves a previous copy unchanged when it throws MusterError. */
export async function publishCompany(
  connection: StoredConnection,
  request: CompanyCopyRequest,
  effects: CompanyCopyEffects,
): Promise<CompanyCopy> {
  const looked = await look(connection, request)
  const { company, others } = looked
  const { file, isForced } = request
  const scratch = makeScratch(dirname(file))
  const draft = join(scratch.path, basename(file))
  try {
    const engine = await openDuckdb(join(scratch.path, 'rows.duckdb'), {
      days: connection.days,
    })
    try {
      await requirePublished(engine, file, isForced)
      // Listed before it is written, so that a later `forget` reaches it.
      if (request.listedOf !== undefined)
        recordOutput(request.listedOf, {
          place: file,
          made: 'company',
          includesPii: false,
          company: company.id,
        })
      await migrate(engine, new Date(effects.clock.now()).toISOString())
      await withSource(connection, engine, source =>
        copyCompany(source, engine, {
          id: company.id,
          onTable: ({ table, rows }) => {
            effects.signal.throwIfAborted()
            effects.onStep(table, rows)
          },
        }),
      )
      const leftOut = await buildOver(engine, connection, effects)
      await dropUnshown(engine)
      await requireNoOthers(engine, others)
      const copied = await engine.exclusive(engine => writeCopy(engine, draft, async () => undefined))
      putInPlace(draft, file)
      const bytes = statSync(file).size
      return { company, file, bytes, leftOut, incomplete: looked.incomplete, ...copied }
    } finally {
      await engine.close()
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error
    throw error instanceof MusterError ? error : failureOf(file, error)
  } finally {
    scratch.remove()
  }
}
