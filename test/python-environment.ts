/** Programs from PyPI that tests try Muster with, in a virtual environment that is kept for the next time. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Wanted {
  readonly name: string
  /** As pip takes them. */
  readonly wanted: readonly string[]
  /** Made by the packages: with it nothing is installed again. */
  readonly program: string
  /** An environment that is there. */
  readonly at?: string | undefined
}

/** The folder of the environment. */
export function pythonEnvironment({ name, wanted, program, at }: Wanted): string {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const folder = at ?? join(root, 'node_modules/.cache', name)
  if (!existsSync(join(folder, 'bin', program))) {
    run('python3', ['-m', 'venv', folder])
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted]
    run(join(folder, 'bin/python'), install)
  }
  return folder
}

function run(file: string, args: readonly string[]): void {
  const { status } = spawnSync(file, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}`)
}
