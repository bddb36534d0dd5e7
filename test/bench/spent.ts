/** What a process spends of the processor, all of its threads, as it says itself when it exits. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './root.ts'

export interface Spent {
  /** Seconds of the processor, user and system. */
  readonly cpu: number
  readonly wall: number
  readonly megabytes: number
}

/** Loaded before the program: writes what was spent when it exits. */
const teller = `
import { writeFileSync } from 'node:fs'
process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  writeFileSync(process.env.MUSTER_BENCH_SPENT, JSON.stringify({ cpu: (user + system) / 1e6, wall: performance.now() / 1e3, megabytes }))
})
`

/** Runs Node with these arguments; throws when it fails. */
export async function measured(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<Spent> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-spent-'))
  const [script, file] = [join(folder, 'teller.mjs'), join(folder, 'spent.json')]
  writeFileSync(script, teller)
  try {
    const child = spawn(process.execPath, ['--import', script, ...args], {
      cwd,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env, MUSTER_BENCH_SPENT: file },
    })
    const code = await new Promise<number | null>(resolve => child.once('exit', resolve))
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
    return JSON.parse(readFileSync(file, 'utf8')) as Spent
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The built program in that folder. */
export const muster = (
  program: string,
  args: readonly string[],
  at: {
    readonly url: string
    readonly warehouse: string
    readonly key?: string
    /** Where a warehouse on a server has its landing. */
    readonly folder?: string
  },
): Promise<Spent> =>
  measured(
    [join(program, 'dist/main.js'), ...args],
    { MUSTER_BASE_URL: at.url, MUSTER_API_KEY: at.key ?? 'bench', MUSTER_WAREHOUSE: at.warehouse },
    at.folder,
  )

/** The one with the median of the processor's seconds. */
export const middle = (all: readonly Spent[]): Spent =>
  [...all].sort((left, right) => left.cpu - right.cpu)[Math.floor(all.length / 2)] ?? {
    cpu: Number.NaN,
    wall: 0,
    megabytes: 0,
  }

export function table(spent: ReadonlyMap<string, readonly Spent[]>, floor: Spent): void {
  for (const [name, all] of spent) {
    const { cpu, wall, megabytes } = middle(all)
    const ratio = (cpu / floor.cpu).toFixed(2).padStart(6)
    console.log(
      `  ${name.padEnd(28)} ${cpu.toFixed(2).padStart(7)} s of CPU ${wall.toFixed(1).padStart(6)} s ${ratio} x the floor ${String(megabytes).padStart(5)} MB`,
    )
  }
}
