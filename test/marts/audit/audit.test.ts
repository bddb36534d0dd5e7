import { expect, test } from 'vitest'
import { useEngines } from '../../warehouse/fixture.ts'
import { auditSeed } from './audit-of-seed.ts'

const engines = useEngines()

test.each([1, 2])('seed %i: every mart has the rows and figures that its header says', async seed => {
  const audited = await auditSeed(await engines.duckdb(), { seed, scale: 0.02 })
  expect(audited.lines).toEqual([])
  expect(audited.empty).toEqual([])
})
