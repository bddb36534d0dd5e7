/** The cross-check against the sandbox: agreement under its readings, and planted errors that are named by record. */
import { describe, expect, test } from 'vitest'
import { definitionDefaults } from '../../src/crosscheck/definition.ts'
import { readDefinition } from '../../src/crosscheck/definition-store.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { checking } from './checked.ts'
import { drawnKnobs } from './settings.ts'

const filled = useFilled()
const byDefault = { definition: definitionDefaults, id: 'default' }
const scale = 0.2

describe('a calibrated cross-check', () => {
  test.each([11, 12, 13])('agrees in every figure under the drawn readings %i', async seed => {
    const sandbox = await openSandbox({ scale, knobs: drawnKnobs(seed) })
    const { engine } = await filled.duckdb()
    const { calibrated, checked } = checking(sandbox, engine)
    let t = performance.now()
    const found = await calibrated()
    console.log('calibrate', performance.now() - t)
    t = performance.now()
    expect(found.stopped).toBeUndefined()
    expect(found.requests).toBeLessThan(40)
    const inForce = await readDefinition(engine)
    expect(inForce).toEqual({ definition: found.definition, id: found.id })
    const result = await checked(inForce)
    console.log('check', performance.now() - t, result.rows.length, result.requests)
    expect(result.rows.filter(({ verdict }) => verdict !== 'equal')).toEqual([])
    expect(result.rows.length).toBeGreaterThan(2000)
  })
})

describe('planted errors', () => {
  test('a requisition that was removed is named by its reference', async () => {
    const sandbox = await openSandbox({ scale })
    const { engine } = await filled.duckdb()
    const [gone] = await engine.rows<{ requisition_id: string; reference: string }>(
      `select requisition_id, reference from star.fact_requisition where status = 'filled' and first_accepted_at is not null order by reference limit 1`,
    )
    for (const table of ['fact_requisition_agency', 'fact_requisition'])
      await engine.run(`delete from star.${table} where requisition_id = $1`, [gone?.requisition_id ?? ''])
    const result = await checking(sandbox, engine).checked(byDefault, ['all', 'agency', 'week'])
    console.log(JSON.stringify(result.findings, null, 1), result.requests)
    console.log(JSON.stringify(result.rows.filter(r => r.verdict !== 'equal').slice(0, 5), null, 1))
  })
  test('an hour', async () => {
    const sandbox = await openSandbox({ scale })
    const { engine } = await filled.duckdb()
    await engine.run(
      `update star.fact_timesheet set net_hours = net_hours + 1 where timesheet_id = (select min(timesheet_id) from star.fact_timesheet where status = 'approved')`,
    )
    const result = await checking(sandbox, engine).checked(byDefault, ['all', 'agency', 'week'])
    console.log(JSON.stringify(result.findings, null, 1), result.requests)
    console.log(JSON.stringify(result.rows.filter(r => r.verdict !== 'equal').slice(0, 5), null, 1))
  })
})
