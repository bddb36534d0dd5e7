/** Decides whether a resource has more quarantined or refused records than the settings tolerate. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { tableInQueries } from '../tables.ts'

export interface Excess {
  /** As in `sql/part/incomplete_resource.sql`. */
  readonly kind: 'in quarantine' | 'refused'
  readonly resource: string
  readonly records: number
  /** The max that the settings tolerate. */
  readonly tolerated: number
}

/** Reads both kinds in one statement, as planning takes longer than running it. */
async function excessive(engine: Engine, of: readonly string[] | undefined): Promise<readonly Excess[]> {
  const rows = await engine.rows<Excess>(
    `${withPart('incomplete_resource')} select kind, resource, records, tolerated from excessive order by resource`,
  )
  return rows
    .map(row => ({ ...row, records: Number(row.records), tolerated: Number(row.tolerated) }))
    .filter(({ resource }) => of?.includes(resource) ?? true)
}

/** Thrown after everything that can be loaded has been loaded. */
export class LimitExceeded extends MusterError {
  override readonly exitCode = 3
}

interface LimitQuery {
  /** Names of resources; all when left out. */
  readonly of?: readonly string[]
  /** For the message: what does not happen until this is fixed. */
  readonly meanwhile: string
}

/** The error for records in quarantine; undefined without any. */
export function describeQuarantined(all: readonly Excess[], meanwhile: string): LimitExceeded | undefined {
  const excess = all.filter(({ kind }) => kind === 'in quarantine')
  if (excess.length === 0) return undefined
  const words = excess.map(
    ({ resource, records, tolerated }) =>
      `${counted(records, 'record')} of ${resource} in quarantine, at most ${formatNumber(tolerated)} tolerated`,
  )
  return new LimitExceeded({
    what: `too many records could not be loaded: ${words.join('; ')}`,
    next: `select * from ${tableInQueries('quarantine')} says why; have them fixed at the source, or raise quarantineRecords or quarantinePercent of the settings; ${meanwhile}`,
  })
}

/** The same for records that the service returned by id before. */
export function describeRefused(all: readonly Excess[]): LimitExceeded | undefined {
  const excess = all.filter(({ kind }) => kind === 'refused')
  if (excess.length === 0) return undefined
  const words = excess.map(
    ({ resource, records, tolerated }) =>
      `${formatNumber(records)} of ${resource}, at most ${formatNumber(tolerated)} tolerated`,
  )
  return new LimitExceeded({
    what: `too many stored records are refused now: ${words.join('; ')}`,
    next: 'their rows are unchanged; have the companies and scopes of the key widened, or raise quarantineRecords or quarantinePercent of the settings',
  })
}

/** The error for records in quarantine; undefined within the limits. */
export const tooManyQuarantined = async (
  engine: Engine,
  { of, meanwhile }: LimitQuery,
): Promise<LimitExceeded | undefined> => describeQuarantined(await excessive(engine, of), meanwhile)

/** Why a run that has read everything is not done; undefined within the limits. */
export async function intolerable(
  engine: Engine,
  { of, meanwhile }: LimitQuery,
): Promise<LimitExceeded | undefined> {
  const found = await excessive(engine, of)
  return describeQuarantined(found, meanwhile) ?? describeRefused(found)
}
