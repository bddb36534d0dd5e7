import { expect, test } from 'vitest'
import { useEngines } from '../../warehouse/fixture.ts'
import { auditSeed } from './audit-of-seed.ts'

const engines = useEngines()
const seeds = Array.from({ length: 10 }, (_, place) => place + 11)

test.each(seeds)('seed %i: every mart has the rows and figures that its header says', async seed => {
  const audited = await auditSeed(await engines.duckdb(), { seed })
  console.log(`seed ${seed}: ${audited.marts} marts, ${audited.rows} rows, ${audited.figures} figures`)
  expect(audited.lines).toEqual([])
})
