/** Whether a resource has more records in quarantine than the settings tolerate. */
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

/** Resources with more records in quarantine than is tolerable. */
async function excessiveQuarantine(engine: Engine): Promise<readonly Excess[]> {
  const rows = await engine.rows<Excess>(
    `${withPart('not_whole')} select resource, records, tolerated from excessive_quarantine order by resource`,
  )
  return rows.map(row => ({ ...row, records: Number(row.records), tolerated: Number(row.tolerated) }))
}

/** Everything that can be loaded is loaded. */
export class TooManyQuarantined extends MusterError {
  override readonly exitCode = 3
}

interface Question {
  /** Names of resources; all when left out. */
  readonly of?: readonly string[]
  /** What stays as it is until then. */
  readonly meanwhile: string
}

/** Undefined when all is tolerable. */
export async function tooManyQuarantined(
  engine: Engine,
  { of, meanwhile }: Question,
): Promise<TooManyQuarantined | undefined> {
  const all = await excessiveQuarantine(engine)
  const excess = all.filter(({ resource }) => of?.includes(resource) ?? true)
  if (excess.length === 0) return undefined
  const words = excess.map(
    ({ resource, records, tolerated }) =>
      `${counted(records, 'record')} of ${resource} in quarantine, ${formatNumber(tolerated)} tolerable`,
  )
  return new TooManyQuarantined({
    what: `too many records could not be loaded: ${words.join('; ')}`,
    next: `select * from ${tableInQueries('quarantine')} tells why; have them mended at the source, or raise quarantineRecords or quarantinePercent of the settings; ${meanwhile}`,
  })
}
