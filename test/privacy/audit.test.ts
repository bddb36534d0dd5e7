/** A value of the PII tables in anything published is found, however it is written, and told without being shown. */
import { expect, test } from 'vitest'
import { searchPublished } from '../../src/privacy/audit.ts'
import { readPiiValues } from '../../src/privacy/pii-values.ts'
import { telling, tellingIn } from '../../src/privacy/telling.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'

test.each([
  ['Ana.Lopez@Example.com', ' ana.lopez@example.com '],
  ['+44 20 7946 0958', '020 7946-0958'],
  ['José  García', 'JOSE GARCIA'],
  ["O'Neill, Mary", 'o neill mary'],
])('%s is %s', (one, other) => {
  expect(telling(one)?.normal).toBe(telling(other)?.normal)
  expect(tellingIn(`asked by ${one}, on Monday`)).toContain(telling(other)?.normal)
})

test.each(['Ana', 'London', '+44', '2026-11-22', '12.50', 'a b', ''])('%j tells nobody apart', text => {
  expect(telling(text)).toBeUndefined()
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
})
