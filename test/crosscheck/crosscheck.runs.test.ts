/** The crosscheck against the sandbox: agreement under its readings, and planted errors that are named by record. */
import { describe, expect, test } from 'vitest'
import { readDefinition } from '../../src/crosscheck/calibrate/definition-store.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { inQuick, thorough } from '../support/long-suite.ts'
import { checking } from './checked.ts'
import { loadRecords } from './load-records.ts'
import { drawnOptions } from './settings.ts'

const filled = useFilled()
const byDefault = { definition: definitionDefaults, id: 'default' }
const scale = 0.2

test.runIf(thorough)('a calibrated crosscheck agrees in every figure under drawn readings', async () => {
  const sandbox = await openSandbox({ scale, options: drawnOptions(11) })
  const { engine } = await filled.duckdb()
  const { calibrated, checked } = checking(sandbox, engine)
  const found = await calibrated()
  expect(found.stopped).toBeUndefined()
  expect(found.requests).toBeLessThan(40)
  const inForce = await readDefinition(engine)
  expect(inForce).toEqual({
    definition: found.definition,
    id: found.id,
    alive: found.alive,
    isCalibrated: true,
  })
  const result = await checked(inForce, ['all', 'company', 'agency', 'month', 'week', 'project,agency'])
  expect(result.rows.filter(({ verdict }) => verdict !== 'equal')).toEqual([])
  expect(result.rows.length).toBeGreaterThan(1000)
})

interface Planted {
  readonly removed: string
  readonly moved: string
  readonly worked: string
}

const first = async (engine: Engine, sql: string): Promise<{ id: string; reference: string }> => {
  const [row] = await engine.rows<{ id: string; reference: string }>(sql)
  if (!row) throw new Error('the sandbox has no such record')
  return row
}

/** In three projects: a requisition that was never loaded, a day too many until its approval, and an hour too many. */
async function plant(engine: Engine): Promise<Planted> {
  const chosen = `from star.fact_requisition where status = 'filled' and first_accepted_at is not null`
  const removed = await first(
    engine,
    `select requisition_id as id, reference, project_id ${chosen} order by reference limit 1`,
  )
  const moved = await first(
    engine,
    `select requisition_id as id, reference ${chosen} and project_id not in
     (select project_id from star.fact_requisition where requisition_id = '${removed.id}') order by reference desc limit 1`,
  )
  for (const table of ['fact_requisition_agency', 'fact_requisition'])
    await engine.run(`delete from star.${table} where requisition_id = $1`, [removed.id])
  await engine.run(
    `update star.fact_requisition set approved_at = approved_at - interval '1 day' where requisition_id = $1`,
    [moved.id],
  )
  const worked = await first(
    engine,
    `select timesheet_id as id, reference from star.fact_timesheet where status = 'approved' order by reference limit 1`,
  )
  await engine.run('update star.fact_timesheet set net_hours = net_hours + 1 where timesheet_id = $1', [
    worked.id,
  ])
  return { removed: removed.reference, moved: moved.reference, worked: worked.reference }
}

describe.each(inQuick(['duckdb', 'postgres'] as const, 0))('planted errors (%s)', name => {
  test('are named by record, with few requests', async () => {
    const sandbox = await openSandbox({ scale })
    const { engine } = await filled[name]()
    const { removed, moved, worked } = await plant(engine)
    const result = await checking(sandbox, engine).checked(byDefault, ['all', 'agency', 'week'])
    const named = new Map(result.findings.map(({ record, kind }) => [record, kind]))
    expect(Object.fromEntries(named)).toEqual({
      [removed]: 'missing',
      [moved]: 'differs',
      [worked]: 'differs',
    })
    expect(result.requests).toBeLessThan(30)
    const all = result.rows.filter(row => row.group_by === 'all' && row.verdict !== 'equal')
    const totalHours = all.find(({ figure }) => figure === 'totalHours')
    expect(totalHours).toMatchObject({
      difference: 1,
      verdict: 'unexplained',
      records: JSON.stringify([worked]),
    })
    expect(totalHours?.reason).toMatch(
      /^timesheet TS-\d+: hours \d+(\.\d+)? here, \d+(\.\d+)? there, in the same version$/,
    )
    expect(all.find(({ figure }) => figure === 'averageDays')?.records).toContain(removed)
    const [stored] = await engine.rows<{ differences: number }>(
      `select count(*) as differences from ops.crosscheck where verdict <> 'equal'`,
    )
    expect(Number(stored?.differences)).toBe(result.rows.filter(({ verdict }) => verdict !== 'equal').length)
  })
})

test.runIf(thorough)('what a sync would bring explains a difference', async () => {
  const sandbox = await openSandbox({ scale })
  const { engine } = await filled.duckdb()
  const { id, reference } = await first(
    engine,
    `select timesheet_id as id, reference from star.fact_timesheet where status = 'approved' order by source_updated_at desc, reference limit 1`,
  )
  await engine.run('delete from star.fact_timesheet where timesheet_id = $1', [id])
  await engine.run(
    `update ops.watermark set watermark = '2020-01-01T00:00:00.000Z' where resource = 'timesheets'`,
  )
  const result = await checking(sandbox, engine).checked(byDefault, ['all', 'project'])
  expect(result.findings).toMatchObject([{ kind: 'newer', record: reference }])
  const differing = result.rows.filter(({ verdict }) => verdict !== 'equal')
  expect(new Set(differing.map(({ verdict }) => verdict))).toEqual(new Set(['explained']))
})

test('a cell of more timesheets than a page names the one that differs, and calls none of the others gone', async () => {
  const sandbox = await openSandbox({ scale })
  const warehouse = await filled.duckdb()
  const { engine } = warehouse
  const [one] = sandbox.world.all('timesheets').filter(({ status }) => status === 'approved')
  const many = Array.from({ length: 250 }, (_, index) => {
    const id = (index + 1).toString(16).padStart(24, 'f')
    return { ...one, id, reference: `TS-MANY-${index}`, worker: { id, name: 'Somebody' }, timelogs: [] }
  })
  for (const record of many) sandbox.world.upsert('timesheets', record)
  await loadRecords(warehouse, 'timesheets', many)
  await engine.run(`update star.fact_timesheet set net_hours = net_hours + 1 where reference = 'TS-MANY-249'`)
  const result = await checking(sandbox, engine).checked(byDefault, ['all', 'project'])
  expect(result.findings).toMatchObject([{ kind: 'differs', record: 'TS-MANY-249' }])
})

test('another definition explains a difference, and is named', async () => {
  const sandbox = await openSandbox({
    scale,
    options: { quantiles: 'type6', 'hours-statuses': ['approved', 'absent'] },
  })
  const { engine } = await filled.duckdb()
  const result = await checking(sandbox, engine).checked(byDefault, ['all', 'project', 'agency'])
  expect(result.findings.map(({ sentence }) => sentence)).toEqual([
    'definition: quantiles type6 instead of type7 would agree; run muster crosscheck --calibrate',
    'definition: timesheetStatuses approved,absent instead of approved would agree; run muster crosscheck --calibrate',
  ])
  expect(result.rows.filter(({ verdict }) => verdict === 'unexplained')).toEqual([])
})

test.runIf(thorough)(
  'requisitions that nothing gives an id for are out of reach, not unexplained',
  async () => {
    const sandbox = await openSandbox({ scale })
    const { engine } = await filled.duckdb()
    const unplaced = `select requisition_id from star.fact_requisition where reference not in
    (select requisition_reference from star.fact_assignment where requisition_reference is not null)`
    await engine.run(`delete from star.fact_requisition_agency where requisition_id in (${unplaced})`)
    await engine.run(`delete from star.fact_requisition where requisition_id in (${unplaced})`)
    const { rows, findings } = await checking(sandbox, engine).checked(byDefault, ['all', 'agency', 'week'])
    expect(findings.filter(({ kind }) => kind === 'uncovered').length).toBeGreaterThan(0)
    const counts = rows.filter(({ figure, ours, theirs }) => figure === 'rawCount' && ours !== theirs)
    expect(new Set(counts.map(({ verdict }) => verdict))).toEqual(new Set(['uncovered']))
    expect(rows.filter(({ verdict }) => verdict === 'unexplained')).toEqual([])
  },
)
