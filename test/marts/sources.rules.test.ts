/** Whether a mart is kept: the text of its sources stays, and it moves with everything that its rows may follow. */

import { expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { readMart, readMarts } from '../../src/marts/mart.ts'
import { countedWrites, inputsOf, sourcesOf } from '../../src/marts/sources.ts'
import type { SourceState } from '../../src/state/marts/source-state.ts'
import { countWrites, everyTable, type WriteKind, writeCounts } from '../../src/state/marts/writes.ts'
import { ledgerTables } from '../../src/state/tables.ts'
import { sqlFiles } from '../../src/warehouse/sql-files.ts'
import { evidence, hour, ledgerBench } from '../support/ledger-bench.ts'

const bench = ledgerBench()

const martOf = (select: string, columns = '--   id text key: An id.') =>
  readMart({
    name: 'mart/x.sql',
    text: `-- What it is.\n-- Grain: one row.\n-- Question: What?\n-- Sources: star.a\n-- Columns:\n${columns}\n${select}`,
  })
const invoices = martOf('select i.invoice_id from star.fact_invoice as i where i.is_deleted')
const moment = { asOf: hour(9), today: '2026-03-02', ...defaultDays }

async function sources(
  mart = invoices,
  change: { moment?: object; structure?: string; built?: string } = {},
) {
  const state: SourceState = {
    structure: change.structure ?? 'as it is',
    writes: await writeCounts(bench.engine),
  }
  return sourcesOf(bench.engine, mart, {
    state,
    time: { ...moment, ...change.moment },
    builtAt: name => `${name} ${change.built}`,
  })
}

/** Whether the mart is built again after what `work` does. */
async function follows(mart: typeof invoices, work: () => Promise<unknown>): Promise<boolean> {
  const before = await sources(mart)
  expect(await sources(mart)).toBe(before)
  await work()
  return (await sources(mart)) !== before
}
const write = (name: string, kind: WriteKind = 'changes') =>
  countWrites(bench.engine, new Map([[name, kind]]))

const insertRun = (command: string) =>
  bench.insert('ops.run', {
    ...{
      run_id: command,
      command,
      arguments: '',
      state: 'done',
      started_at: hour(1),
      requests: 0,
      retries: 0,
    },
    ...{ records_read: 0, rows_inserted: 0, rows_changed: 0, rows_removed: 0, records_unchanged: 0 },
    ...{ quarantined: 0, program_version: 'test' },
  })
const voidEvidence = (id: string, at: string) =>
  bench.engine.run(`update ops.evidence set void_at = '${at}' where record_id = '${id}'`)
const settleEvents = (at: string) =>
  bench.engine.run(`update star.fact_webhook_event set fetched_at = '${at}'`)
const insertEvent = () =>
  bench.insert('star.fact_webhook_event', {
    ...{ event_id: 'e', type: 't', received_at: hour(1), delivered_count: 1, signature_ok: true },
    ...{ state: 'signalled', loaded_at: hour(8) },
  })

test('each table that a mart reads has a state that moves with its rows', () => {
  const counted = new Set([...countedWrites.values()].flatMap(({ tables }) => tables))
  const ledger = new Set(ledgerTables.map(({ schema, name }) => `${schema}.${name}`))
  const seeds = sqlFiles('seed').map(({ name }) => `star.${name.replace(/^seed\/|\.sql$/g, '')}`)
  const views = sqlFiles('view').map(({ text }) => /create view (\S+)/.exec(text)?.[1] ?? '')
  const known = new Set([...counted, ...ledger, ...seeds, ...views, 'star.fact_webhook_event'])
  const marts = readMarts()
  for (const mart of marts)
    for (const table of inputsOf(mart))
      if (!known.has(table)) expect(marts.map(({ name }) => `mart.${name}`)).toContain(table)
})

test('no mart and no view reads the hash of a row, whose removal is not counted', () => {
  const texts = [...readMarts().map(({ select }) => select), ...sqlFiles('view').map(({ text }) => text)]
  expect(texts.filter(text => /\brow_hash\b/.test(text))).toEqual([])
})

test.each([
  ['its resource', 'invoices', true],
  ['any table', everyTable, true],
  ['another resource', 'timesheets', false],
  ['members of a dimension that it does not name', 'company', false],
])('a change of %s', async (_, name, isFollowed) => {
  expect(await follows(invoices, () => write(name))).toBe(isFollowed)
})

test('names beside ids follow the members and records of their dimension', async () => {
  const named = martOf(
    'select i.company_id from star.fact_invoice as i',
    '--   company_id text key: The company.',
  )
  for (const name of ['company', 'companies'])
    expect([name, await follows(named, () => write(name))]).toEqual([name, true])
})

test('a view stands for the tables that it reads', async () => {
  const rates = martOf('select r.rate_id from star.fact_rate as r')
  for (const name of ['rates', 'trades', 'rate'])
    expect([name, await follows(rates, () => write(name))]).toEqual([name, true])
})

test('a touch is followed by a mart that names bookkeeping which it moves', async () => {
  const touch = () => write('invoices', 'touches')
  expect(await follows(invoices, touch)).toBe(false)
  expect(await follows(martOf('select i.invoice_id, i.loaded_at from star.fact_invoice as i'), touch)).toBe(
    true,
  )
})

test('tables of the ledger and events follow their own rows; a build does not follow its own run', async () => {
  const runs = martOf('select r.run_id from ops.run as r')
  expect(await follows(runs, () => insertRun('build')), 'a build').toBe(false)
  expect(await follows(runs, () => insertRun('sync')), 'a sync').toBe(true)
  // A run that was killed is recorded as failed without a time.
  const fail = `update ops.run set state = 'failed' where command = 'sync'`
  expect(await follows(runs, () => bench.engine.run(fail)), 'a killed run').toBe(true)

  const kept = martOf('select e.record_id from ops.evidence as e')
  await bench.insert('ops.evidence', evidence('early'), evidence('late'))
  await voidEvidence('late', hour(5))
  // A time that is older than the latest may be committed after it.
  expect(await follows(kept, () => voidEvidence('early', hour(4))), 'evidence that became void').toBe(true)

  const events = martOf('select e.event_id from star.fact_webhook_event as e')
  expect(await follows(events, insertEvent), 'a new event').toBe(true)
  expect(await follows(events, () => settleEvents(hour(2))), 'a settled event').toBe(true)
  const again = 'update star.fact_webhook_event set delivered_count = 2'
  expect(await follows(events, () => bench.engine.run(again)), 'an event delivered again').toBe(true)
})

test('the structure, the moments that it names and the marts that it reads count', async () => {
  const before = await sources()
  expect(await sources(invoices, { structure: 'another' })).not.toBe(before)
  // A release may compute a column of every mart otherwise, whose files stay.
  expect(await sources({ ...invoices, columns: [] })).not.toBe(before)
  expect(await sources(invoices, { moment: { asOf: hour(10), today: '2026-03-03' }, built: 'later' })).toBe(
    before,
  )
  const day = martOf('select i.invoice_id from star.fact_invoice as i where i.due_date < :today')
  expect(await sources(day, { moment: { today: '2026-03-03' } })).not.toBe(await sources(day))
  const reader = martOf('select l.invoice_id from mart.invoice_ledger as l')
  expect(await sources(reader, { built: 'later' })).not.toBe(await sources(reader))
})
