/** The commands that read need no key and no address of the service, and on a server no more than the rights of a reader. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { buildAll } from '../support/built-marts.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { onServer } from '../support/postgres-database.ts'

const filled = useFilled()
const cwd = temporaryFolder()
const prefix = `k${process.pid}_`
const roles = ['owner', 'loader', 'reader', 'bi', 'privacy'].map(role => prefix + role)
const clock: Clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }
const addresses: Record<string, string> = {}
let database = ''

const run = (who: string, line: string, stop = new AbortController().signal) =>
  muster(line, {
    cwd,
    clock,
    signal: stop,
    env: { MUSTER_WAREHOUSE: addresses[who], MUSTER_LANDING: join(cwd, `${who}.landing`) },
  })

beforeAll(async () => {
  const file = await filled.duckdb()
  await buildAll(file.engine)
  addresses.file = file.address
  await file.close()
  const server = await filled.postgres()
  await buildAll(server.engine)
  await server.close()
  addresses.admin = server.address
  database = new URL(server.address).pathname.slice(1)
  expect(await run('admin', `roles --prefix ${prefix}`)).toMatchObject({ code: 0, err: '' })
  for (const role of ['loader', 'reader', 'bi']) {
    await onServer(`alter role ${prefix}${role} password 'for this test'`)
    const url = new URL(server.address)
    url.username = prefix + role
    url.password = 'for this test'
    addresses[role] = url.href
  }
}, 240_000)

afterAll(async () => {
  for (const role of roles) {
    await onServer(`reassign owned by ${role} to current_user`, database)
    await onServer(`drop owned by ${role}`, database)
    await onServer(`drop role if exists ${role}`)
  }
  rmSync(cwd, { recursive: true, force: true })
})

describe.each(['file', 'loader', 'reader', 'bi'])('without a key, as %s', who => {
  const hasStar = who !== 'bi'

  test('sql', async () => {
    const from = hasStar ? 'star.fact_timesheet' : 'mart.timesheet_cycle'
    const { code, out, err } = await run(
      who,
      `sql --json select\u00a0count(*)\u00a0as\u00a0n\u00a0from\u00a0${from}`.replaceAll('\u00a0', '\t'),
    )
    expect([code, err]).toEqual([0, ''])
    expect(Number(JSON.parse(out)[0].n)).toBeGreaterThan(10)
  })

  test('status', async () => {
    const { code, out, err } = await run(who, 'status')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('timesheets')
    const json = JSON.parse((await run(who, 'status --json')).out)
    expect(json.resources.length).toBeGreaterThan(5)
  })

  test('docs', async () => {
    const { code, err } = await run(who, `docs --out ${who}.html --dbt ${who}-dbt`)
    expect([code, err]).toEqual([0, ''])
    expect(readFileSync(join(cwd, `${who}.html`), 'utf8')).not.toContain('without row counts')
  })

  test('dashboard', async () => {
    // A report that is filtered offers no other members, each of which would take a second.
    const one = ['company', 'project', 'site', 'agency', 'trade'].map(name => `--${name} any`).join(' ')
    const { code, out, err } = await run(who, `dashboard --out ${who}-report.html ${one}`)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('all pages')
    const [, data = '{}'] =
      /id="report">(.*?)<\/script>/s.exec(readFileSync(join(cwd, `${who}-report.html`), 'utf8')) ?? []
    const failures = JSON.parse(data).pages.flatMap((page: { panels: { failure: string | null }[] }) =>
      page.panels.map(({ failure }) => failure),
    )
    expect(failures.length).toBeGreaterThan(20)
    expect(failures.filter((one: string | null) => one !== null)).toEqual([])
  })

  test.runIf(hasStar)('metric', async () => {
    const { code, out, err } = await run(who, 'metric workersOverHours --group-by month')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/\d+ groups, definition default\n$/)
  })

  test.runIf(hasStar)('export', async () => {
    const { code, err } = await run(who, `export --parquet ${who}-parquet`)
    expect([code, err]).toEqual([0, ''])
    const manifest = JSON.parse(readFileSync(join(cwd, `${who}-parquet`, 'manifest.json'), 'utf8'))
    expect(
      manifest.tables.find(({ name }: { name: string }) => name === 'fact_timesheet').rows,
    ).toBeGreaterThan(10)
  })

  test.runIf(!hasStar)('what needs star is refused in one line, and leaves nothing behind', async () => {
    for (const line of ['metric timeToFill', 'export --parquet none --include-pii']) {
      const { code, err } = await run(who, line)
      expect([line, code]).toEqual([line, 1])
      expect(err).toMatch(/^muster: [^\n]+\n$/)
      expect(err).not.toMatch(/ {4}at /)
    }
    expect(existsSync(join(cwd, 'none'))).toBe(false)
  })

  test('what needs a key says so', async () => {
    const { code, err } = await run(who, 'sync')
    expect([code, err]).toEqual([
      78,
      expect.stringMatching(/^muster: [^\n]*MUSTER_(BASE_URL|API_KEY)[^\n]*\n$/),
    ])
  })
})
