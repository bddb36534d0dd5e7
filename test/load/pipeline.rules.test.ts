/** How a batch that does not fit into memory is parted: what is committed when, and which batch is never parted. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OutOfMemory } from '../../src/lib/errors.ts'
import type { PageBatch } from '../../src/load/load-batch.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import type { PageFile } from '../../src/load/read/pages.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { resourceOf, rulesWarehouse } from '../support/rules-warehouse.ts'

const warehouse = rulesWarehouse()
const sites = resourceOf('sites')
const folder = mkdtempSync(join(tmpdir(), 'muster-parts-'))
beforeAll(() => void mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(async () => void (await warehouse.rows('delete from star.dim_site')))

const rowsAPage = 3

function page(number: number): PageFile {
  const file = join(folder, `${number}.json`)
  const data = Array.from({ length: rowsAPage }, (_, row) => ({ id: `s${number}-${row}` }))
  const body = JSON.stringify({ success: true, data })
  writeFileSync(file, body)
  return { file, bytes: body.length, fetchedAt: '2026-11-02T09:00:00.000Z', runId: 'run', scope: {} }
}

/** Loads pages of which so many fit into memory; the records of each commit, those of the last part marked. */
async function loaded(pages: number, fitting: number, parts: Partial<PageBatch> = {}): Promise<string[]> {
  const pipeline = new Pipeline({ engine: warehouse.engine, plan: stagePlan(sites) })
  const commits: string[] = []
  const files = Array.from({ length: pages }, (_, number) => page(number))
  await pipeline.load({ pages: files, rows: 'data', ...parts }, async (engine, { merge, isLast }) => {
    const { inserted } = await engine.merge(async connection => {
      const part = await merge(connection)
      if (part.records > fitting * rowsAPage)
        throw new OutOfMemory({ what: 'too many rows', next: 'take fewer' })
      return part
    })
    commits.push(`${inserted}${isLast ? ' last' : ''}`)
  })
  await pipeline.drained()
  return commits
}

describe('a batch', () => {
  test.each([
    ['that fits is one commit', 4, 4, ['12 last']],
    ['of which half fits is two', 4, 2, ['6', '6 last']],
    ['of which one page fits is one a page', 4, 1, ['3', '3', '3', '3 last']],
    ['of an odd number has the larger half first', 3, 2, ['6', '3 last']],
  ])('%s', async (...[, pages, fitting, commits]) => {
    expect(await loaded(pages, fitting)).toEqual(commits)
    expect(await warehouse.rows('select site_id from star.dim_site')).toHaveLength(pages * rowsAPage)
  })

  test('of one page is not parted', async () => {
    await expect(loaded(1, 0)).rejects.toBeInstanceOf(OutOfMemory)
  })

  test('of a snapshot is not parted: rows absent from half of it are not removed at the source', async () => {
    const snapshot = [{ extent: {}, time: '2026-11-02T09:00:00.000Z', run: 'run' }]
    await expect(loaded(2, 1, { snapshot })).rejects.toBeInstanceOf(OutOfMemory)
    expect(await warehouse.rows('select site_id from star.dim_site')).toEqual([])
  })
})
