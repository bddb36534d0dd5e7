/** `npm run simulate` as a process of its own, because it replaces the ways out of the process that it runs in. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('main.ts', import.meta.url))

export interface Simulated {
  readonly code: number
  readonly out: string
}

export function simulate(...args: readonly string[]): Promise<Simulated> {
  return new Promise(resolve => {
    execFile(process.execPath, ['--import', 'tsx', program, ...args], { maxBuffer: 1e8 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out: out + err }),
    )
  })
}

/** How many seeds were run. */
export const seedsIn = ({ out }: Simulated): number => Number(/^(\d+) seeds/m.exec(out)?.[1])
