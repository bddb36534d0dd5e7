/**
 * `npm run bench -- growth 2000 100 20`: how a file grows over nights in each of which 20 other timesheets changed, beside a
 * copy of it that was written anew.
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
  readonly nights: number
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

export async function benchGrowth({ count, nights, changed }: GrowthOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-growth-'))
  const [file, copy] = [join(folder, 'held.duckdb'), join(folder, 'copy.duckdb')]
  try {
    for (let night = 0; night <= nights; night += 1) {
      const server = await startServer({ count, timelogs: 'with', changed: night * changed })
      const at = { url: server.url, warehouse: `duckdb:${file}` }
      try {
        await muster(root, ['sync', 'timesheets', '--quiet'], at)
        await muster(root, ['retention'], at)
      } finally {
        server.process.kill()
      }
      if (night > 1 && night % 10 !== 0) continue
      copyFileSync(file, copy)
      await rewriteFile(copy)
      const [held, anew] = [megabytes(file), megabytes(copy)]
      console.log(
        `night ${String(night).padStart(3)}: ${held.toFixed(1)} MB, ${((await freeShare(file)) * 100).toFixed(0)}% of its blocks free; written anew ${anew.toFixed(1)} MB, ratio ${(held / anew).toFixed(2)}`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
