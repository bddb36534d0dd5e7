/** Whether a resource has more records in quarantine, or refused by their ids, than the settings tolerate. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { tableInQueries } from '../tables.ts'

interface Excess {
  readonly resource: string
  readonly records: number
  readonly tolerated: number
}

/** Resources with more records of a kind than is tolerable. */
async function excessive(
  engine: Engine,
  part: 'excessive_quarantine' | 'excessive_refusal',
  of?: readonly string[],
): Promise<readonly Excess[]> {
  const rows = await engine.rows<Excess>(
    `${withPart('not_whole')} select resource, records, tolerated from ${part} order by resource`,
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

/** Records that could not be loaded; undefined when all is tolerable. */
export async function tooManyQuarantined(
  engine: Engine,
  { of, meanwhile }: Question,
): Promise<Intolerable | undefined> {
  const excess = await excessive(engine, 'excessive_quarantine', of)
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

/** Records that were given by their ids before; undefined when all is tolerable. */
async function tooManyRefused(engine: Engine, of: Question['of']): Promise<Intolerable | undefined> {
  const excess = await excessive(engine, 'excessive_refusal', of)
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

/** Why a run is not done although it has read everything; undefined when all is tolerable. */
export const intolerable = async (engine: Engine, question: Question): Promise<Intolerable | undefined> =>
  (await tooManyQuarantined(engine, question)) ?? (await tooManyRefused(engine, question.of))
