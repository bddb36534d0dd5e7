/** Publishes what one company may see: a file with its rows of star, marts built over them, and nothing of the others. */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import type { Clock } from '../../lib/clock.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import type { Rng } from '../../lib/rng.ts'
import { nearest } from '../../lib/text/nearest.ts'
import { buildMarts, type MartResult } from '../../marts/build.ts'
import { everyCheck, martGate } from '../../marts/checks/gate.ts'
import { readMarts } from '../../marts/mart.ts'
import { copyCompany, dropUnshown } from '../../publish/company/company-rows.ts'
import { requireNoOthers } from '../../publish/company/foreign-ids.ts'
import type { CopySource } from '../../publish/copy/copy.ts'
import { fileSource, serverSource } from '../../publish/copy/copy-source.ts'
import { requirePublished } from '../../publish/former-copy.ts'
import { recordOutput } from '../../publish/outputs.ts'
import { failureOf, putInPlace, requireTolerable, requireWhole } from '../../publish/publish.ts'
import { type PublishedTable, writeCopy } from '../../publish/published-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { type NotWhole, notWhole } from '../../state/scans/wholeness.ts'
import { makeScratch } from '../../temporary/scratch.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../../warehouse/on-demand.ts'
import { duckdbFile, postgresPlace } from '../connection/warehouse.ts'

export interface Company {
  readonly id: string
  readonly name: string
}

export interface CompanyCopy {
  readonly company: Company
  readonly file: string
  readonly bytes: number
  readonly tables: readonly PublishedTable[]
  readonly views: readonly string[]
  /** Marts that could not be built from the rows of the company, with why. */
  readonly leftOut: readonly Pick<MartResult, 'name' | 'message'>[]
  readonly notWhole: readonly NotWhole[]
}

export interface CompanyCopyRequest {
  readonly company: string
  readonly file: string
  readonly requiresWhole: boolean
  /** Replaces a file that is no published copy. */
  readonly isForced: boolean
  /** Beside which the list of outputs is that it is to be in; left out where it is in it already. */
  readonly listedOf?: string
}

export interface CompanyCopyEffects {
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  /** Called with each table and each mart. */
  readonly onStep: (name: string, rows: number) => void
}

interface Looked {
  readonly company: Company
  readonly others: readonly string[]
  readonly notWhole: readonly NotWhole[]
}

const openSource = (connection: StoredConnection): Promise<Engine> => {
  const place = postgresPlace(connection)
  if (place) return openPostgres(place.address, place.options)
  return openDuckdb(duckdbFile(connection) ?? '', { readOnly: true })
}

/** Throws UsageError that names the company that is meant, by its id or its name. */
function companyNamed(given: string, companies: readonly Company[]): Company {
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
  const shown = ({ id, name }: Company): string => `${id} (${name})`
  const listed = companies.slice(0, 5).map(shown).join(', ')
  const more = companies.length > 5 ? ` or one of ${companies.length - 5} others, see mart.dim_company` : ''
  throw new UsageError({
    what,
    next: meant ? `did you mean ${shown(meant)}?` : `name one by its id: ${listed}${more}`,
  })
}

async function look(connection: StoredConnection, request: CompanyCopyRequest): Promise<Looked> {
  const engine = await openSource(connection)
  try {
    await engine.requireReader()
    const companies = await engine.rows<Company>(
      `select company_id as id, coalesce(name, company_id) as name from star.dim_company
       where company_id <> '-1' order by name, company_id`,
    )
    const company = companyNamed(request.company, companies)
    await requireTolerable(engine)
    if (request.requiresWhole) await requireWhole(engine)
    const others = companies.map(({ id }) => id).filter(id => id !== company.id)
    return { company, others, notWhole: (await notWhole(engine)) ?? [] }
  } finally {
    await engine.close()
  }
}

async function withSource<Result>(
  connection: StoredConnection,
  target: Engine,
  work: (source: CopySource) => Promise<Result>,
): Promise<Result> {
  const place = postgresPlace(connection)
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
  { fiscalYearStart: fiscalMonth, currencies, currency }: StoredConnection,
  { clock, rng, signal, onStep }: CompanyCopyEffects,
): Promise<CompanyCopy['leftOut']> {
  const marts = readMarts()
  const built = await buildMarts(
    {
      engine,
      clock,
      rng,
      signal,
      version: programVersion,
      gate: martGate(everyCheck(marts)),
      onMart: one => one.state !== 'building' && onStep(`mart.${one.name}`, one.rows ?? 0),
    },
    {
      marts,
      names: [],
      all: true,
      fiscalMonth,
      ...(currencies && { currencies }),
      ...(currency !== undefined && { currency }),
    },
  )
  return built.marts.filter(({ state }) => state !== 'built')
}

/** When it throws MusterError, a previous copy is unchanged. */
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
      reportingZone: connection.reportingZone,
    })
    try {
      await requirePublished(engine, file, isForced)
      // Before it is written: whoever is forgotten afterwards is forgotten in it too.
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
      return { company, file, bytes, leftOut, notWhole: looked.notWhole, ...copied }
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
