/** What the statements of marts and checks give over a worn star and ledger: digests that are kept in worn.txt. */
import { createHash } from 'node:crypto'
import type { Check } from '../../../src/marts/checks/check.ts'
import { type CheckTime, runCheck } from '../../../src/marts/checks/run.ts'
import { fillTokens, readReportingTime } from '../../../src/marts/inputs.ts'
import type { Mart } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { quoteName, quoteNames } from '../../../src/warehouse/sql-text.ts'
import { filledAt } from '../../support/filled-warehouse.ts'
import type { Raw } from './odd-world.ts'
import { wearLedger } from './worn-ledger.ts'
import { statesForChecks } from './worn-marts.ts'
import { wear } from './worn-star.ts'

export interface Worn {
  readonly engine: Engine
  readonly moment: CheckTime
}

/** The marts stay as they were; what is read then is asked for as if it were the moment before. */
export async function wornOf(engine: Engine): Promise<Worn> {
  const moment = { ...(await readReportingTime(engine, Date.parse(filledAt))), now: filledAt }
  await wear(engine)
  await wearLedger(engine)
  return { engine, moment }
}

/** What the statement gives now, in order of all columns. */
export const madeRows = ({ engine, moment }: Worn, { columns, select }: Mart): Promise<Raw[]> =>
  engine.rows(
    `select ${columns.map(({ name, type }) => `cast(made.${quoteName(name)} as ${type}) as ${quoteName(name)}`).join(', ')}
     from (\n${fillTokens(select, moment)}\n) as made(${quoteNames(columns.map(({ name }) => name))}) order by all`,
  )

export type Digests = Readonly<Record<string, string | number>>

export const md5Of = (text: string): string => createHash('md5').update(text).digest('hex').slice(0, 8)

/** Sums of doubles differ in their last digits by the order of their parts. */
const textOf = (value: unknown): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(9))) : String(value)

/** The number of its rows, and a digest of each column. */
export async function martDigests(worn: Worn, mart: Mart): Promise<Digests> {
  const rows = await madeRows(worn, mart)
  const columns = mart.columns.map(
    ({ name }) => [name, md5Of(rows.map(row => textOf(row[name])).join('\n'))] as const,
  )
  return { rows: rows.length, ...Object.fromEntries(columns) }
}

/** How many rows it finds in each table, with a digest of the first ones. */
export async function checkDigests({ engine, moment }: Worn, check: Check): Promise<Digests> {
  const { failures } = await runCheck(engine, check, moment)
  return Object.fromEntries(
    failures.map(({ subject, rows, samples }) => [subject, `${rows} ${md5Of(samples.join('\n'))}`]),
  )
}

const undone = new Error('undone')

/** Of the check in each state of the marts and the star. */
async function inEachState(worn: Worn, checks: readonly Check[]) {
  const all: Record<string, Digests> = {}
  for (const [state, bring] of Object.entries(statesForChecks))
    await worn.engine
      .transaction(async engine => {
        await bring(engine)
        for (const check of checks)
          all[`${check.name} (${state})`] = await checkDigests({ ...worn, engine }, check)
        throw undone
      })
      .catch(error => {
        if (error !== undone) throw error
      })
  return all
}

export async function martsDigests(
  worn: Worn,
  marts: readonly Mart[],
): Promise<Readonly<Record<string, Digests>>> {
  const all: Record<string, Digests> = {}
  for (const mart of marts) all[mart.name] = await martDigests(worn, mart)
  return all
}

/** Of every mart and check, by name. */
export async function wornDigests(
  worn: Worn,
  marts: readonly Mart[],
  checks: readonly Check[],
): Promise<Readonly<Record<string, Digests>>> {
  const all: Record<string, Digests> = { ...(await martsDigests(worn, marts)) }
  for (const check of checks) all[check.name] = await checkDigests(worn, check)
  return { ...all, ...(await inEachState(worn, checks)) }
}
