/** A value of the PII tables in anything published is found, however it is written, and told without being shown. */
import { expect, test } from 'vitest'
import { searchPublished } from '../../src/privacy/audit.ts'
import { identifierOf, identifiersIn } from '../../src/privacy/identifiers.ts'
import { readPiiValues } from '../../src/privacy/pii-values.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

test.each([
  ['Ana.Lopez@Example.com', ' ana.lopez@example.com '],
  ['+44 20 7946 0958', '020 7946-0958'],
  ['José  García', 'JOSE GARCIA'],
  ["O'Neill, Mary", 'o neill mary'],
])('%s is %s', (one, other) => {
  expect(identifierOf(one)?.normal).toBe(identifierOf(other)?.normal)
  expect(identifiersIn(`asked by ${one}, on Monday`)).toContain(identifierOf(other)?.normal)
})

test.each(['Ana', 'London', '+44', '2026-11-22', '12.50', 'a b', ''])('%j identifies no person', text => {
  expect(identifierOf(text)).toBeUndefined()
})

const found = async (engine: Engine) =>
  (await searchPublished(engine, await readPiiValues(engine))).hits.map(({ column }) => column)

describeOnEngines('muster audit-pii', bench => {
  test('finds what gets into star, and nothing in a warehouse as it is', async () => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const { engine, ...warehouse } = await bench.warehouse()
    await syncOnce(sandbox, { engine, ...warehouse }, { request: { resources: ['users', 'timesheets'] } })
    expect(await found(engine)).toEqual([])
    const [user] = await engine.rows<{ name: string; email: string }>(
      `select upper(name) as name, email from pii."user" where email is not null order by user_id limit 1`,
    )
    await engine.run(`update star.dim_project set name = 'Site of ' || $1`, [user!.name])
    await engine.run(`update star.fact_timesheet set status = $1`, [user!.email])
    const hits = await found(engine)
    expect(hits).toEqual(expect.arrayContaining(['star.dim_project.name', 'star.fact_timesheet.status']))
    expect(JSON.stringify(hits)).not.toContain(user!.email)
  })

  test('the name of a project is no personal data where only metric rows name it, a person in it is', async () => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const { engine, ...warehouse } = await bench.warehouse()
    const resources = ['companies', 'sites', 'users', 'metric-rows']
    await syncOnce(sandbox, { engine, ...warehouse }, { request: { resources } })
    const projects = await engine.rows<{ name: string }>(
      `select distinct project_name as name from star.fact_recruitment_metric_row order by 1 limit 3`,
    )
    expect(projects.length).toBeGreaterThan(0)
    // Sites whose address is the name of their project, or part of it.
    for (const { name } of projects)
      await engine.run(
        `update pii.site set address_line_one = $1 where site_id = (select min(site_id) from pii.site
           where address_line_one not in (select project_name from star.fact_recruitment_metric_row))`,
        [name],
      )
    await engine.run(
      `update pii.site set postcode = $1 where site_id = (select max(site_id) from pii.site)`,
      [projects[0]!.name.split(' ').slice(0, 2).join(' ')],
    )
    expect(await found(engine)).toEqual([])
    await engine.run(
      `update star.fact_recruitment_metric_row set project_name = (select min(name) from pii."user")`,
    )
    expect(await found(engine)).toEqual(['star.fact_recruitment_metric_row.project_name'])
  })
})
