/** A person in files with personal data, where forgetting and writing them happen at the same time, in either order. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { type Built, start, stopWhen } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

const request = { resources: ['timesheets', 'sites'] }

interface Place {
  readonly warehouse: Warehouse
  readonly cwd: string
  readonly person: { readonly id: string; readonly name: string }
  run(line: string): Built
}

async function placeOn(warehouse: Warehouse, url: string): Promise<Place> {
  await syncOnce({ url }, warehouse, { request })
  const [person] = await warehouse.engine.rows<Place['person']>(
    `select worker_id as id, name from pii.worker where name like '% %' order by 1 limit 1`,
  )
  await warehouse.close()
  const cwd = temporaryFolder()
  const env = {
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: warehouse.address,
    MUSTER_LANDING: warehouse.landing,
  }
  return { warehouse, cwd, person: person as Place['person'], run: line => start(line, { cwd, env }) }
}

const sandboxOf = () => keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })

/** Drafts of the export whose file of workers is written. */
const drafts = ({ cwd }: Place): string[] =>
  readdirSync(cwd, { recursive: true, encoding: 'utf8' }).flatMap(
    path => /^(\.muster-.*\/out)\/pii\/worker[^/]*$/.exec(path)?.[1] ?? [],
  )

async function namedIn({ warehouse, cwd, person }: Place, folder: string): Promise<number> {
  await warehouse.open()
  const files = readdirSync(join(cwd, folder, 'pii'), { recursive: true })
    .map(String)
    .filter(path => /^worker.*parquet$/.test(path))
  const list = files.map(path => quoteText(join(cwd, folder, 'pii', path))).join(', ')
  const [row] = await warehouse.engine.stage.rows<{ n: number }>(
    `select count(*) as n from read_parquet([${list}]) where name = ${quoteText(person.name)}`,
  )
  await warehouse.close()
  return Number(row?.n)
}

const exporting = 'export --parquet out --include-pii'
const forgetting = ({ person }: Place): string => `forget worker ${person.id} --yes`

/** Refused once, it is run again. */
async function toTheEnd(place: Place, first: Built): Promise<void> {
  const ended = await first.ended
  if (ended.code !== 0) {
    expect([ended.code, ended.err]).toEqual([75, expect.stringMatching(/muster: [^\n]+\n$/)])
    expect(await place.run(forgetting(place)).ended).toMatchObject({ code: 0 })
  }
}

describeOnEngines(
  'a person is forgotten',
  bench => {
    test('while an export has read the personal data: it is not in what is put in place', async () => {
      const place = await placeOn(await bench.warehouse(), (await sandboxOf()).url)
      const written = place.run(exporting)
      await stopWhen(written, () => drafts(place).length > 0)
      const forget = place.run(forgetting(place))
      await Promise.race([forget.ended, new Promise(resolve => setTimeout(resolve, 4_000))])
      written.signal('SIGCONT')
      expect(await written.ended).toMatchObject({ code: 0, err: '' })
      await toTheEnd(place, forget)
      expect(await namedIn(place, 'out')).toBe(0)
    })

    test('and an export begins meanwhile: when both have ended, it is without the person', async () => {
      const place = await placeOn(await bench.warehouse(), (await sandboxOf()).url)
      expect(await place.run(`${exporting.replace('out', 'first')}`).ended).toMatchObject({ code: 0 })
      expect(await namedIn(place, 'first')).toBe(1)
      const forget = place.run(forgetting(place))
      await stopWhen(forget, () => forget.err().includes('rewriting'))
      const written = await place.run(exporting).ended
      expect([written.code, written.err]).toEqual(
        bench.name === 'duckdb' ? [75, expect.stringMatching(/muster: [^\n]+\n$/)] : [0, ''],
      )
      forget.signal('SIGCONT')
      expect(await forget.ended).toMatchObject({ code: 0 })
      expect(await namedIn(place, 'first')).toBe(0)
      if (bench.name !== 'duckdb') expect(await namedIn(place, 'out')).toBe(0)
    })

    // Of a server no list of copies is kept.
    test.runIf(bench.name === 'duckdb')('whom a copy does not have, as it was made earlier', async () => {
      const place = await placeOn(await bench.warehouse(), (await sandboxOf()).url)
      const { warehouse, person } = place
      expect(
        await place.run(`copy --from ${warehouse.address} --to duckdb:${place.cwd}/copied.duckdb`).ended,
      ).toMatchObject({ code: 0 })
      const later = { ...person, id: `${person.id.slice(0, -4)}ffff` }
      await warehouse.open()
      await warehouse.engine.run(
        `insert into star.dim_worker by name select * replace (${quoteText(later.id)} as worker_id)
       from star.dim_worker where worker_id = ${quoteText(person.id)}`,
      )
      await warehouse.close()
      expect(await place.run(`forget worker ${later.id} --yes`).ended).toMatchObject({ code: 0 })
    })
  },
  'all',
)

describeOnEngines(
  'on a server',
  bench => {
    test.runIf(bench.name === 'postgres')(
      'an export that was stopped never puts back what was erased meanwhile',
      async () => {
        const place = await placeOn(await bench.warehouse(), (await sandboxOf()).url)
        const { warehouse } = place
        const written = place.run(exporting)
        await stopWhen(written, () => drafts(place).length > 0)
        const [draft] = drafts(place)
        const forget = place.run(forgetting(place))
        await warehouse.open()
        await stopWhen(
          forget,
          async () => (await warehouse.engine.rows('select 1 from ops.forgotten')).length > 0,
        )
        await warehouse.close()
        written.signal('SIGCONT')
        let hasEnded = false
        void written.ended.then(() => (hasEnded = true))
        // It may see that it has to be written anew.
        await stopWhen(written, () => hasEnded || drafts(place).some(name => name !== draft))
        forget.signal('SIGCONT')
        await toTheEnd(place, forget)
        written.signal('SIGCONT')
        await written.ended
        expect(await namedIn(place, 'out')).toBe(0)
      },
    )
  },
  'all',
)
