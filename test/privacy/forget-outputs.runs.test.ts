/** What was written from a warehouse before a person is forgotten: copies are without the person, and the rest is told. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

/** Rows of a copy that hold the text, by table. */
async function holding(file: string, column: string, text: string): Promise<number> {
  const engine = await openDuckdb(file, { readOnly: true })
  try {
    const [row] = await engine.rows<{ n: number }>(
      `select count(*) as n from ${column.replace(/\.\w+$/, '')} where ${column.split('.').at(-1)} like ${quoteText(`%${text}%`)}`,
    )
    return Number(row?.n)
  } finally {
    await engine.close()
  }
}

interface Made {
  readonly person: { readonly id: string; readonly name: string }
  readonly company: string
  readonly address: string
  readonly cwd: string
  command(
    line: string,
    more?: Readonly<Record<string, string>>,
  ): Promise<{ code: number; out: string; err: string }>
}

/** With a person whose name somebody typed into the name of a site, which is published. */
async function made(bench: Bench): Promise<Made> {
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const warehouse = await bench.warehouse()
  const { engine, address } = warehouse
  await syncOnce(sandbox, warehouse, { request: { resources: ['companies', 'timesheets', 'sites'] } })
  const [person] = await engine.rows<Made['person']>(
    `select worker_id as id, name from pii.worker where name like '% %' order by 1 limit 1`,
  )
  const [found] = await engine.rows<{ company: string; site: string }>(
    `select company_id as company, min(site_id) as site from star.dim_site where company_id <> '-1' group by 1 limit 1`,
  )
  await engine.run(
    `update star.dim_site set name = ${quoteText(person?.name ?? '')} where site_id = ${quoteText(found?.site ?? '')}`,
  )
  const { command, cwd } = await commandsOn(warehouse, sandbox)
  return { person: person as Made['person'], company: found?.company ?? '', address, cwd, command }
}

describeOnEngines(
  'what was written before a person is forgotten',
  bench => {
    test('a copy is written again, and files of query answers are named', async () => {
      const { person, address, cwd, command } = await made(bench)
      const [copy = '', answer = '', open = ''] = ['copied.duckdb', 'answer.parquet', 'open.parquet'].map(
        file => join(cwd, file),
      )
      const copied = await command(`copy --from ${address} --to duckdb:${copy} --json`)
      expect([copied.code, copied.err, JSON.parse(copied.out)]).toMatchObject([
        0,
        '',
        { isReachedByForget: true },
      ])
      expect((await command(`sql --parquet ${answer} select name from pii.worker`)).code).toBe(0)
      expect((await command(`sql --parquet ${open} select 1 as one`)).code).toBe(0)
      expect(await holding(copy, 'pii.worker.name', person.name)).toBe(1)
      const forgotten = await command(`forget worker ${person.id} --yes --json`)
      expect([forgotten.code, JSON.parse(forgotten.out)]).toMatchObject([
        0,
        { changed: true, outputs: [copy], unreached: [answer] },
      ])
      expect(await holding(copy, 'pii.worker.name', person.name)).toBe(0)
    }, 400_000)

    test.runIf(bench.name === 'postgres')(
      'reports a copy on a server that no connection names',
      async () => {
        const { address, cwd, command } = await made(bench)
        const other = await command(`copy --from ${address} --to duckdb:${join(cwd, 'c.duckdb')}`, {
          MUSTER_WAREHOUSE: 'duckdb:other.duckdb',
        })
        expect([other.code, other.err]).toEqual([
          0,
          expect.stringContaining('forget does not reach this copy'),
        ])
      },
      400_000,
    )
  },
  'all',
)

describeOnEngines('what one company was given before a person is forgotten', bench => {
  test('is searched by the audit, and written again', async () => {
    const { person, company, cwd, command } = await made(bench)
    const own = join(cwd, 'own.duckdb')
    expect((await command(`publish --company ${company} --out ${own}`)).code).toBe(0)
    expect(await holding(own, 'star.dim_site.name', person.name)).toBe(1)
    const first = statSync(own).ino
    const audited = await command('audit-pii --json')
    expect([audited.code, audited.out]).toEqual([3, expect.stringContaining(JSON.stringify(own))])
    const forgotten = await command(`forget worker ${person.id} --yes --json`)
    expect([forgotten.code, JSON.parse(forgotten.out)]).toMatchObject([0, { outputs: [own] }])
    expect(statSync(own).ino).not.toBe(first)
  }, 400_000)
})
