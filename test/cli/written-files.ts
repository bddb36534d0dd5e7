/** Input files for the writing commands, in a folder of the test's own, and a world that reaches a sandbox. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessIo } from '../../src/cli/world.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

export function writingWorld(baseUrl: string, key = sandboxKeys.agency) {
  const cwd = temporaryFolder()
  const env = { MUSTER_BASE_URL: baseUrl, MUSTER_API_KEY: key, MUSTER_WAREHOUSE: 'duckdb:x.duckdb' }
  return {
    cwd,
    /** Writes a file and gives its name. */
    file: (name: string, content: string | Buffer | object): string => {
      const isRaw = typeof content === 'string' || Buffer.isBuffer(content)
      writeFileSync(join(cwd, name), isRaw ? content : JSON.stringify(content))
      return name
    },
    run: (line: string, parts: Partial<ProcessIo> = {}) => muster(line, { cwd, env, ...parts }),
  }
}

/** One line of headings and a line a worker, with the address in columns of its own. */
export function csvOf(workers: readonly Body[]): string {
  const rows = workers.map(({ address, trades, ...flat }) => ({
    ...flat,
    ...Object.fromEntries(Object.entries(address ?? {}).map(([name, value]) => [`address.${name}`, value])),
    ...(trades ? { trades: trades.join('; ') } : {}),
  }))
  const headings = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const lines = rows.map(row => headings.map(heading => (row as Body)[heading] ?? '').join(','))
  return [headings.join(','), ...lines].join('\n')
}
