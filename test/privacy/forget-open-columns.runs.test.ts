/** A name that somebody typed where no name belongs: it goes from star, its history and marts at once, not with the next replay. */
import { expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteText } from '../../src/warehouse/sql-text.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

/** Text columns outside `pii` that hold the text, whatever its case. */
async function columnsWith(engine: Engine, text: string): Promise<string[]> {
  const columns = await engine.describedColumns(['star', 'history', 'mart', 'ops'])
  const found: string[] = []
  for (const { schema, table, column, type } of columns) {
    if (!/^(varchar|text)/i.test(type)) continue
    const [row] = await engine.rows<{ n: number }>(
      `select count(*) as n from ${schema}.${quoteName(table)} where lower(${quoteName(column)}) like ${quoteText(`%${text.toLowerCase()}%`)}`,
    )
    if (Number(row?.n) > 0) found.push(`${schema}.${table}.${column}`)
  }
  return found
}

async function opened<Result>(warehouse: Warehouse, work: (engine: Engine) => Promise<Result>) {
  await warehouse.open()
  return work(warehouse.engine).finally(() => warehouse.close())
}

describeOnEngines(
  'a name in open columns',
  bench => {
    test('is gone from each of them at once, and stays gone', async () => {
      const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const { command } = await commandsOn(warehouse, sandbox)
      const good = async (line: string): Promise<string> => {
        const ended = await command(line)
        expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
        return ended.out
      }
      const { world } = sandbox
      const [worker] = world.all('timesheets').map(({ worker }) => worker as { id: string; name: string })
      const { id = '', name = '' } = worker ?? {}
      const later = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()
      const [site] = world.all('sites')
      const [sheet] = world.all('timesheets')
      const [invoice, next] = world.all('invoices')
      world.upsert('sites', { ...site, name: `${name.toUpperCase()} yard`, updatedAt: later(-2) } as never)
      world.upsert('timesheets', { ...sheet, reference: `${name} 1`, updatedAt: later(-2) } as never)
      world.upsert('invoices', { ...invoice, reference: name, updatedAt: later(-2) } as never)
      world.upsert('invoices', { ...next, reference: `For ${name}`, updatedAt: later(-2) } as never)
      await good('sync --quiet')
      // The name of the site is in the history alone from here on.
      world.upsert('sites', { ...site, name: 'Yard', updatedAt: later(-1) } as never)
      await good('sync --quiet')
      await good('build --quiet')
      const held = () => opened(warehouse, engine => columnsWith(engine, name))
      expect(await held()).toEqual(
        expect.arrayContaining([
          'history.dim_site.name',
          'mart.invoice_ledger.reference',
          'star.fact_invoice.reference',
          'star.fact_timesheet.reference',
        ]),
      )
      const audited = await command('audit-pii --json')
      expect([audited.code, audited.out]).toEqual([3, expect.stringContaining('mart.invoice_ledger')])

      const { rows } = JSON.parse(await good(`forget worker ${id} --dry-run --json`)) as {
        rows: Record<string, number>
      }
      expect(rows).toMatchObject({
        'history.dim_site': 1,
        'star.fact_invoice': 2,
        'mart.invoice_ledger': expect.any(Number),
      })
      expect(JSON.parse(await good(`forget worker ${id} --yes --json`))).toMatchObject({ rows })
      expect(await held()).toEqual([])
      await good('audit-pii --quiet')

      await good('build --all --quiet')
      await good('sync --quiet')
      await good('replay --quiet')
      await good('build --quiet')
      expect(await held()).toEqual([])
    }, 240_000)
  },
  'all',
)
