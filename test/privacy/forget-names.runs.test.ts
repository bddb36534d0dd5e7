/** Names as people have them: with accents on any letter, apostrophes and signs of SQL patterns; namesakes stay. */
import { expect, test } from 'vitest'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

/** The name or address of a person, and texts that say the same. */
const names: readonly (readonly [string, readonly string[]])[] = [
  ['Jan Dvořák', ['Jan Dvořák', 'JAN DVOŘÁK yard', 'For Jan Dvorak', 'Jan Dvořák'.normalize('NFD')]],
  ['Recep Erdoğan', ['Recep Erdoğan 1', 'recep erdogan']],
  ['Jérôme Ng', ['Jérôme Ng'.normalize('NFD'), 'Jerome Ng']],
  ["Sean O'Brien", ["Sean O'Brien", 'SEAN O’BRIEN', 'Sean O Brien']],
  ['a_b%c\\d@example.com', ['A_b%c\\d@example.com', 'see a_b%c\\d@example.com']],
  ['Søren Ås', ['Søren Ås', 'SØREN ÅS']],
]
/** Of other people, and of nobody. */
const others = [
  'Jan Dvorsky',
  'Recep',
  'Ng Jérôme',
  "Sean O'Brian",
  'aXbYcd@example.com',
  'Al Bo',
  '100% _ \\',
]

describeOnEngines(
  'forget by names',
  bench => {
    test('finds each way of writing, and leaves what is of others', async () => {
      const sandbox = await openSandbox({ scale: 0.05, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const { command } = await commandsOn(warehouse, sandbox)
      const good = async (line: string): Promise<string> => {
        const ended = await command(line)
        expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
        return ended.out
      }
      await good('sync --quiet timesheets sites users')
      const inWarehouse = async <Row>(sql: readonly string[]): Promise<Row[]> => {
        await warehouse.open()
        const rows: Row[] = []
        for (const one of sql) rows.push(...(await warehouse.engine.rows<Row & object>(one)))
        await warehouse.close()
        return rows
      }
      const workers = await inWarehouse<{ id: string }>([
        `select worker_id as id from pii.worker where name is not null order by 1 limit ${names.length + 1}`,
      ])
      const sheets = await inWarehouse<{ id: string }>([
        'select timesheet_id as id from star.fact_timesheet order by 1',
      ])
      const texts = [...names.flatMap(([, forms]) => forms), ...others]
      expect(sheets.length).toBeGreaterThanOrEqual(texts.length)
      await inWarehouse([
        ...names.map(
          ([name], index) =>
            `update pii.worker set name = ${quoteText(name)}
             where worker_id = ${quoteText(workers[index]?.id ?? '')}`,
        ),
        // A namesake of the first.
        `update pii.worker set name = 'Jan Dvořák' where worker_id = ${quoteText(workers.at(-1)?.id ?? '')}`,
        ...texts.map(
          (text, index) =>
            `update star.fact_timesheet set reference = ${quoteText(text)}
             where timesheet_id = ${quoteText(sheets[index]?.id ?? '')}`,
        ),
      ])
      for (const [index] of names.entries()) await good(`forget worker ${workers[index]?.id} --yes --quiet`)
      const left = await inWarehouse<{ reference: string }>([
        `select reference from star.fact_timesheet
         where timesheet_id in (${sheets.slice(0, texts.length).map(({ id }) => quoteText(id))})`,
      ])
      const kept = left.map(({ reference }) => reference).filter(text => texts.includes(text))
      expect(kept.sort()).toEqual([...others].sort())
      expect(
        await inWarehouse([
          `select name from pii.worker where worker_id = ${quoteText(workers.at(-1)?.id ?? '')}`,
        ]),
      ).toEqual([{ name: 'Jan Dvořák' }])
    }, 240_000)
  },
  'all',
)
