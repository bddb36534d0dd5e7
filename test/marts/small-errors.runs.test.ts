import { expect, test } from 'vitest'
import { writtenChecks } from '../../src/marts/checks/check.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { md5Of } from './audit/worn.ts'
import { foundIn, foundInMart, plantSmallErrors } from './small-errors.ts'

const filled = useFilled()

/** A check that was changed on purpose is accepted by `npm run accept -- marts`. */
test('with small errors in the star, and in one column of its mart, every check finds what it always found', async () => {
  const { engine } = await filled.duckdb()
  await buildAll(engine)
  await engine.run('set threads = 1')
  const lines: string[] = []
  for (const check of writtenChecks()) {
    const all = await foundInMart(engine, check)
    if (all.length > 0) lines.push(`${check.name}.marts ${all.length} ${md5Of(all.join('\n'))}\n`)
  }
  await plantSmallErrors(engine)
  for (const check of writtenChecks())
    lines.push(`${check.name}.star ${md5Of(JSON.stringify(await foundIn(engine, check)))}\n`)
  await expect(lines.sort().join('')).toMatchFileSnapshot('small-errors.txt')
})
