/** Programs from PyPI that tests try Muster with, in a virtual environment that is kept for the next time. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Wanted {
  readonly name: string
  /** As pip takes them. */
  readonly wanted: readonly string[]
  /** Made by the packages. */
  readonly program: string
  /** An environment that is there. */
  readonly at?: string | undefined
}

const minuteMs = 60_000

/** There is no Python for it, or no PyPI. */
export class NoEnvironment extends Error {}

/** The folder of the environment. Throws NoEnvironment with one line. */
export function pythonEnvironment({ name, wanted, program, at }: Wanted): string {
  if (at !== undefined) {
    if (existsSync(join(at, 'bin', program))) return at
    throw new NoEnvironment(`${at} has no bin/${program}`)
  }
  const folder = join(fileURLToPath(new URL('../../', import.meta.url)), 'node_modules/.cache', name)
  // Written when all is installed: a run that was stopped leaves half of an environment.
  const whole = join(folder, 'whole')
  const stamp = createHash('sha256').update(wanted.map(contentOf).join('\n')).digest('hex')
  if (existsSync(whole) && readFileSync(whole, 'utf8') === stamp) return folder
  const python = pythonHere()
  rmSync(folder, { recursive: true, force: true })
  run(python, ['-m', 'venv', folder])
  // Where PyPI does not answer, that is known within a minute.
  const install = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20']
  run(join(folder, 'bin/python'), ['-m', 'pip', ...install, ...wanted])
  writeFileSync(whole, stamp)
  return folder
}

/** A file that is named by -r counts with what it says. */
const contentOf = (word: string): string => (existsSync(word) ? readFileSync(word, 'utf8') : word)

const isRightVersion = 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'

/** The first Python that can make an environment in which Airflow runs. */
function pythonHere(): string {
  const found = ['python3.11', 'python3.12', 'python3.13', 'python3.10', 'python3'].find(
    python => spawnSync(python, ['-c', isRightVersion], { timeout: minuteMs }).status === 0,
  )
  if (found === undefined) throw new NoEnvironment('there is no Python 3.10 to 3.13 with venv here')
  return found
}

function run(file: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8', timeout: 20 * minuteMs })
  if (status === 0) return
  const told = stderr?.trim().split('\n').at(-1)
  throw new NoEnvironment(`${file} ${args.slice(0, 3).join(' ')} ended with ${status}: ${told}`)
}
