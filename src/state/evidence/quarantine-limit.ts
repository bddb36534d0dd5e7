/** Whether a resource has more records in quarantine, or refused by their ids, than the settings tolerate. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { tableInQueries } from '../tables.ts'

export interface Excess {
  /** As `sql/part/not_whole.sql` says it. */
  readonly kind: 'in quarantine' | 'refused'
  readonly resource: string
  readonly records: number
  /** Most that were tolerable. */
  readonly tolerated: number
}

/** Of both kinds in one statement, as planning it takes longer than asking. */
async function excessive(engine: Engine, of: readonly string[] | undefined): Promise<readonly Excess[]> {
  const rows = await engine.rows<Excess>(
    `${withPart('not_whole')} select kind, resource, records, tolerated from excessive order by resource`,
  )
  return rows
    .map(row => ({ ...row, records: Number(row.records), tolerated: Number(row.tolerated) }))
    .filter(({ resource }) => of?.includes(resource) ?? true)
}

/** Everything that can be read and loaded is. */
export class Intolerable extends MusterError {
  override readonly exitCode = 3
}

interface Question {
  /** Names of resources; all when left out. */
  readonly of?: readonly string[]
  /** What stays as it is until then. */
  readonly meanwhile: string
}

/** What is said when there are any in quarantine. */
export function describeQuarantined(all: readonly Excess[], meanwhile: string): Intolerable | undefined {
  const excess = all.filter(({ kind }) => kind === 'in quarantine')
  if (excess.length === 0) return undefined
  const words = excess.map(
    ({ resource, records, tolerated }) =>
      `${counted(records, 'record')} of ${resource} in quarantine, ${formatNumber(tolerated)} tolerable`,
  )
  return new Intolerable({
    what: `too many records could not be loaded: ${words.join('; ')}`,
    next: `select * from ${tableInQueries('quarantine')} tells why; have them mended at the source, or raise quarantineRecords or quarantinePercent of the settings; ${meanwhile}`,
  })
}

/** The same for records that were given by their ids before. */
export function describeRefused(all: readonly Excess[]): Intolerable | undefined {
  const excess = all.filter(({ kind }) => kind === 'refused')
  if (excess.length === 0) return undefined
  const words = excess.map(
    ({ resource, records, tolerated }) =>
      `${formatNumber(records)} of ${resource}, ${formatNumber(tolerated)} tolerable`,
  )
  return new Intolerable({
    what: `too many stored records are refused now: ${words.join('; ')}`,
    next: 'their rows stay as they were; have the companies and scopes of the key widened, or raise quarantineRecords or quarantinePercent of the settings',
  })
}

/** Records that could not be loaded; undefined when all is tolerable. */
export const tooManyQuarantined = async (
  engine: Engine,
  { of, meanwhile }: Question,
): Promise<Intolerable | undefined> => describeQuarantined(await excessive(engine, of), meanwhile)

/** Why a run is not done although it has read everything; undefined when all is tolerable. */
export async function intolerable(
  engine: Engine,
  { of, meanwhile }: Question,
): Promise<Intolerable | undefined> {
  const found = await excessive(engine, of)
  return describeQuarantined(found, meanwhile) ?? describeRefused(found)
}
