/** Runs `npm run simulate` in its own process, because it patches modules of the process that it runs in. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const mainFile = fileURLToPath(new URL('main.ts', import.meta.url))

export interface SimulationResult {
  readonly code: number
  readonly out: string
}

export function simulate(...args: readonly string[]): Promise<SimulationResult> {
  return new Promise(resolve => {
    execFile(
      process.execPath,
      ['--import', 'tsx', mainFile, ...args],
      { maxBuffer: 1e8 },
      (error, out, err) => resolve({ code: error ? Number(error.code ?? 1) : 0, out: out + err }),
    )
  })
}

/** The number of seeds that ran. */
export const seedsIn = ({ out }: SimulationResult): number => Number(/^(\d+) seeds/m.exec(out)?.[1])
