/**
 * `npm run bench -- growth 2000 100 20`: how a file grows over 100 daily syncs, each with 20 other changed timesheets, beside
 * a copy of it that was written from nothing.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { rewriteFile } from '../../src/warehouse/duckdb/rewrite-file.ts'
import { root } from './root.ts'
import { muster } from './spent.ts'
import { startServer } from './sync-run.ts'

export interface GrowthOptions {
  readonly count: number
  readonly days: number
  readonly changed: number
}

const megabytes = (file: string): number => statSync(file).size / 1e6

async function freeShare(file: string): Promise<number> {
  const engine = await openDuckdb(file)
  try {
    const [row] = await engine.rows<{ share: number }>(
      `select free_blocks / total_blocks::double as share from pragma_database_size() where database_name = 'warehouse'`,
    )
    return row?.share ?? 0
  } finally {
    await engine.close()
  }
}

export async function benchGrowth({ count, days, changed }: GrowthOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-growth-'))
  const [file, copy] = [join(folder, 'synced.duckdb'), join(folder, 'copy.duckdb')]
  try {
    for (let day = 0; day <= days; day += 1) {
      const server = await startServer({ count, timelogs: 'with', changed: day * changed })
      const at = { url: server.url, warehouse: `duckdb:${file}` }
      try {
        await muster(root, ['sync', 'timesheets', '--quiet'], at)
        await muster(root, ['retention'], at)
      } finally {
        server.process.kill()
      }
      if (day > 1 && day % 10 !== 0) continue
      copyFileSync(file, copy)
      await rewriteFile(copy)
      const [size, rewritten] = [megabytes(file), megabytes(copy)]
      console.log(
        `day ${String(day).padStart(3)}: ${size.toFixed(1)} MB, ${((await freeShare(file)) * 100).toFixed(0)}% of its blocks free; rewritten ${rewritten.toFixed(1)} MB, ratio ${(size / rewritten).toFixed(2)}`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
