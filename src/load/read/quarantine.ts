/** Records of a batch that could not be loaded, as rows of the quarantine: the reason, and the record as it was received. */
import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { pageBytes, pageName } from '../../lib/stored-page.ts'
import { quarantineColumns, quarantineTable } from '../../state/evidence/quarantine.ts'
import type { QuarantineRow } from '../../state/evidence/tables.ts'
import type { Engine, TemporaryTable } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { knownFields } from '../page/known-fields.ts'
import { recordsOn } from '../page/page-fields.ts'
import { idIn } from '../page/stand-ins.ts'
import type { Staged } from './batch.ts'
import { BatchFiles } from './batch-files.ts'
import { lostRecords } from './cast-check.ts'
import type { PageTrouble } from './page-repair.ts'
import { type PageFile, perPage, positionsPerPage, type RowsAt, readLines } from './pages.ts'
import type { StagePlan } from './plan.ts'

/** One row per leaf that was lost; the same leaf of the same text is kept once, however often it is read. */
function lostLeaves(plan: StagePlan, pages: readonly PageFile[]): string {
  const id = plan.resource.table.columns[plan.root.table.key]
  const path = id?.source.from === 'field' ? id.source.path.join('.') : undefined
  const record = path ? `json_extract_string(r.j, ${quoteText(`$.${path}`)})` : 'null'
  return `create or replace temp table ${quarantineTable} as
    select md5(concat_ws('|', resource, coalesce(record_id, payload), path, coalesce(text, ''), reason)) as quarantine_id, *
    from (
      select ${quoteText(plan.resource.name)} as resource, ${record} as record_id, v.path, v.text, v.reason,
        p.payload, ${perPage(pages, pageName)} as page,
        ${perPage(pages, page => page.runId)} as run_id, cast(${perPage(pages, page => page.fetchedAt)} as timestamptz) as seen_at
      from cast_failure v join checked_record r using (locator) join lost_payload p using (locator)) q
    qualify row_number() over (partition by quarantine_id order by seen_at desc) = 1`
}

/** Columns l and p: the lost records as they were received, as DuckDB's JSON rounds numbers beyond 17 digits. */
async function writePayloads(stage: Engine, plan: StagePlan, { pages, rows, file }: Lost): Promise<number> {
  const lost = await stage.rows<{ locator: string }>(`select distinct locator from (${lostRecords})`)
  const locators = new Set(lost.map(({ locator }) => Number(locator)))
  let longest = 0
  for (const [index, page] of pages.entries()) {
    const first = (index + 1) * positionsPerPage + 1
    if (![...locators].some(locator => locator >= first && locator < first + positionsPerPage)) continue
    const bytes = pageBytes(page)
    const search = { rows, known: knownFields(plan.resource.table), most: 0 }
    let locator = first - 1
    for (const { start, end } of recordsOn(bytes, search)) {
      locator += 1
      if (!locators.has(locator)) continue
      const line = JSON.stringify({ l: locator, p: bytes.toString('utf8', start, end) })
      longest = Math.max(longest, line.length * 3)
      appendFileSync(file, `${line}\n`, { mode: 0o600 })
    }
  }
  return longest
}

async function lostPayloads(stage: Engine, plan: StagePlan, { pages, rows }: Arriving): Promise<void> {
  const files = new BatchFiles(pages)
  try {
    const file = files.named('lost')
    const longest = await writePayloads(stage, plan, { pages, rows, file })
    await stage.run(`create or replace temp table lost_payload as select l as locator, p as payload
      from ${readLines(file, { l: 'BIGINT', p: 'VARCHAR' }, longest)}`)
  } finally {
    files.remove()
  }
}

interface Arriving {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  readonly staged: Staged
}

interface Lost extends Pick<Arriving, 'pages' | 'rows'> {
  readonly file: string
}

/** Makes the temporary table of lost leaves in the stage; none when no record lost one. */
export async function quarantineTables(
  stage: Engine,
  plan: StagePlan,
  arriving: Arriving,
): Promise<TemporaryTable[]> {
  if (arriving.staged.quarantined === 0) return []
  await lostPayloads(stage, plan, arriving)
  await stage.run(lostLeaves(plan, arriving.pages))
  return [{ name: quarantineTable, columns: quarantineColumns }]
}

/** The same for the same value of the same record, however often it is read. */
const idOf = (row: Pick<QuarantineRow, 'resource' | 'record_id' | 'payload' | 'path' | 'text' | 'reason'>) =>
  createHash('md5')
    .update(JSON.stringify([row.resource, row.record_id ?? row.payload, row.path, row.text, row.reason]))
    .digest('hex')

/** The rows of a record that was left out of its batch. */
export function leftOutRows(resource: string, { page, payload, faults }: PageTrouble): QuarantineRow[] {
  return faults.map(({ path, text, reason }): QuarantineRow => {
    const row = { resource, record_id: idIn(payload) ?? null, path, text, reason, payload }
    return {
      ...row,
      // Of a record as a whole every version counts.
      quarantine_id: path === '' ? createHash('md5').update(payload).digest('hex') : idOf(row),
      page: pageName(page),
      run_id: page.runId,
      seen_at: page.fetchedAt,
      resolved_at: null,
    }
  })
}
