/** What `muster publish --company` writes: the rows of one company and marts over them, from either engine. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { physicalTables } from '../../src/warehouse/schema/physical.ts'
import { buildAll } from '../support/built-marts.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'

const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }

/** Before every text of the company that is made up here. */
const prefix = '~2~'

const copied = physicalTables.filter(({ schema }) => schema !== 'pii')

/** Words with a meaning of their own, which both companies use. */
const isWord = (name: string): boolean =>
  !/(_id|_key|_nanoid|reference|_name|^name|^label|^path|^title|^code|description|number|email|nanoid)$/.test(
    name,
  ) || /^(config_key|hour_type|iso_week_key|uplift_key|rate_key)$/.test(name)

/** A second company: every row of the first once more, with other ids, names and references, and amounts three times as high. */
async function addCompany(engine: Engine): Promise<void> {
  for (const { schema, name, columns } of copied) {
    const values = columns.map(({ name, sql }) => {
      if (sql === 'text' && name !== 'run_id' && !isWord(name))
        return `case when "${name}" in ('-1', '') then "${name}" else '${prefix}' || "${name}" end`
      return /^numeric\(18, 4\)$/.test(sql) && /charge|value|total/.test(name) ? `"${name}" * 3` : `"${name}"`
    })
    const names = columns.map(column => `"${column.name}"`).join(', ')
    await engine.run(
      `insert into ${schema}."${name}" (${names}) select ${values.join(', ')} from ${schema}."${name}" where run_id <> 'seed'`,
    )
  }
}

/** Of both: a worker of one who also works for the other, and a project of one that the other names by mistake. */
async function mixCompanies(engine: Engine): Promise<void> {
  const [first] = await engine.rows<{ worker_id: string; project_id: string }>(
    `select worker_id, project_id from star.fact_timesheet where timesheet_id not like '${prefix}%' and worker_id <> '-1' and project_id <> '-1' order by timesheet_id limit 1`,
  )
  await engine.run(
    `update star.fact_timesheet set worker_id = $1, project_id = $2
     where timesheet_id = (select min(timesheet_id) from star.fact_timesheet where timesheet_id like '${prefix}%')`,
    [first?.worker_id ?? '', first?.project_id ?? ''],
  )
}

const addressed = ({ address }: Warehouse, cwd: string) => ({
  cwd,
  clock,
  // Of a build in the same second.
  rng: seededRng(2),
  env: { MUSTER_WAREHOUSE: address, MUSTER_LANDING: join(cwd, 'landing') },
})

interface Table {
  readonly schema: string
  readonly name: string
}

const tablesIn = (engine: Engine): Promise<Table[]> =>
  engine.rows<Table>(
    `select table_schema as schema, table_name as name from information_schema.tables
     where table_catalog = current_database() and table_schema in ('star', 'mart', 'ops') order by 1, 2`,
  )

/** Cells of any type, as text, that hold the words. */
async function cellsWith(engine: Engine, words: string): Promise<string[]> {
  const found: string[] = []
  for (const { schema, name } of await tablesIn(engine)) {
    const rows = await engine.rows(
      `select * from ${schema}."${name}" as t where contains(cast(t as varchar), '${words}') limit 1`,
    )
    if (rows.length > 0) found.push(`${schema}.${name} ${JSON.stringify(rows[0])}`)
  }
  return found
}

/** Of the account or of the runs, and when a row was made. */
const notCompared = new Set([
  'alert',
  'data_health',
  'freshness',
  'request_budget',
  'crosscheck',
  'dim_api_key',
])
const stamps = new Set(['definition_id', 'as_of', 'loaded_at'])

async function martRows(engine: Engine): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const { schema, name } of await tablesIn(engine)) {
    if (schema !== 'mart' || notCompared.has(name)) continue
    const rows = await engine.rows<Record<string, unknown>>(`select * from mart."${name}"`)
    const plain = rows.map(row =>
      JSON.stringify(Object.entries(row).filter(([column]) => !stamps.has(column))),
    )
    found.set(name, plain.sort())
  }
  return found
}

const filled = useFilled()
const cwd = temporaryFolder()
let alone: Map<string, string[]>
let company: string

describe.each(['duckdb', 'postgres'] as const)('from %s', kind => {
  let place: Warehouse
  let copy: Engine
  let file: string
  let said: { readonly code: number; readonly out: string; readonly err: string }

  beforeAll(async () => {
    place = await filled[kind]()
    const { engine } = place
    if (kind === 'duckdb') {
      await buildAll(engine)
      alone = await martRows(engine)
    }
    const [one] = await engine.rows<{ id: string }>(
      `select company_id as id from star.dim_company where company_id <> '-1'`,
    )
    company = one?.id ?? ''
    await addCompany(engine)
    await mixCompanies(engine)
    await place.close()
    file = join(cwd, `${kind}.copy.duckdb`)
    said = await muster(`publish --company ${company} --out ${file}`, addressed(place, cwd))
    expect(said.err).toBe('')
    copy = await openDuckdb(file, { readOnly: true })
  }, 120_000)

  afterAll(async () => {
    await copy?.close()
  })

  test('says what it wrote', () => {
    expect(said.code).toBe(0)
    expect(said.out).toMatch(
      /^published \d+ tables, \d+ views, [\d,]+ rows of .+, [\d.]+ MB: .*copy\.duckdb\n$/,
    )
  })

  test('no cell holds an id, a name or a reference of the other', async () => {
    expect(await cellsWith(copy, prefix)).toEqual([])
  })

  test('its marts are those of a warehouse with this company alone', async () => {
    const ours = await martRows(copy)
    expect([...ours.keys()]).toEqual([...alone.keys()])
    const different = [...alone].filter(([name, rows]) => ours.get(name)?.join() !== rows.join())
    // The rows that differ say more than thousands of equal ones.
    const shown = different.map(([name, rows]) => ({
      name,
      missing: rows.filter(row => !ours.get(name)?.includes(row)).slice(0, 3),
      more: ours
        .get(name)
        ?.filter(row => !rows.includes(row))
        .slice(0, 3),
    }))
    expect(shown).toEqual([])
  })

  test('the other way round, nothing of the first is in the copy of the second', async () => {
    const other = join(cwd, `${kind}.other.duckdb`)
    const { code, err } = await muster(
      `publish --company ${prefix}${company} --out ${other} --json`,
      addressed(place, cwd),
    )
    expect([code, err]).toEqual([0, ''])
    const engine = await openDuckdb(other, { readOnly: true })
    try {
      const foreign = await engine.rows<{ id: string }>(
        `select distinct timesheet_id as id from star.fact_timesheet where timesheet_id not like '${prefix}%'
         union all select project_id from star.dim_project where project_id not like '${prefix}%' and project_id <> '-1'
         union all select project_id from mart.labour_spend_weekly where project_id not like '${prefix}%' and project_id <> '-1'
         union all select agency_id from mart.dim_agency where agency_id not like '${prefix}%' and agency_id <> '-1'`,
      )
      expect(foreign).toEqual([])
      const [own] = await engine.rows<{ n: number }>('select count(*) as n from star.fact_timesheet')
      const [sheets] = await copy.rows<{ n: number }>('select count(*) as n from star.fact_timesheet')
      expect(own).toEqual(sheets)
      // Who works for both is known to both, and what was named by mistake to nobody.
      const [shared] = await engine.rows<{ project: string; workers: number }>(
        `select min(project_id) as project, count(*) as workers from star.fact_timesheet where worker_id not like '${prefix}%' and worker_id <> '-1'`,
      )
      expect(shared).toEqual({ project: '-1', workers: 1 })
    } finally {
      await engine.close()
    }
  })

  test('it holds nothing of persons, and opens without a key', async () => {
    const schemas = await copy.rows<{ name: string }>(
      `select distinct table_schema as name from information_schema.tables where table_catalog = current_database() order by 1`,
    )
    expect(schemas.map(({ name }) => name)).toEqual(['mart', 'ops', 'star'])
    await copy.close()
    const env = { MUSTER_WAREHOUSE: `duckdb:${file}` }
    const { code, out } = await muster('status --json', { cwd, env })
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ isPublished: true })])
    copy = await openDuckdb(file, { readOnly: true })
  })

  test.each([
    ['nobody', /there is no company nobody: name one by its id: /],
    [prefix, /there is no company ~2~: /],
    // The last letter of an id is missing.
    ['', /there is no company \S+: did you mean \S+ \(.+\)\?/],
  ])('company %s is refused', async (given, words) => {
    const id = given === '' ? company.slice(0, -1) : given
    const none = join(cwd, 'none.duckdb')
    const { code, err } = await muster(`publish --company ${id} --out ${none}`, addressed(place, cwd))
    expect([code, err]).toEqual([2, expect.stringMatching(words)])
    expect(existsSync(none)).toBe(false)
  })

  test.each(['a foreign file', 'a link'])('%s is not replaced', async what => {
    const target = join(cwd, `${kind}-${what === 'a link' ? 'link' : 'theirs'}.duckdb`)
    writeFileSync(join(cwd, 'theirs'), 'precious')
    if (what === 'a link') symlinkSync('theirs', target)
    else writeFileSync(target, 'precious')
    const { code, err } = await muster(`publish --company ${company} --out ${target}`, addressed(place, cwd))
    expect([code, err]).toEqual([expect.any(Number), expect.stringMatching(/^muster: [^\n]+\n$/)])
    expect(code).toBeGreaterThan(0)
    expect(readFileSync(target, 'utf8')).toBe('precious')
  })
})

afterAll(() => rmSync(cwd, { recursive: true, force: true }))
