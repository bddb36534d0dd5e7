/** Tools from PyPI and npm, each installed once into a folder of its own that later runs find again, and how they are run. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BundleFile } from '../../src/semantic/bundle.ts'
import { madeOnce } from '../support/shared-file.ts'

const execute = promisify(execFile)

export interface Ran {
  readonly code: number
  readonly output: string
}

/** Everything that the program printed; a failure is told by its code. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Ran> {
  const { cwd, env = {} } = options
  try {
    const { stdout, stderr } = await execute(program, [...args], {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 1024 * 1024,
    })
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string }
    return { code: code ?? 1, output: `${stdout}${stderr}${stdout === '' && stderr === '' ? error : ''}` }
  }
}

/** Temporary folders of tests go when they end, and Superset takes minutes to install. */
const tools = fileURLToPath(new URL('../../node_modules/.cache/muster-tools', import.meta.url))

const placeOf = (name: string, packages: readonly string[]): string =>
  join(tools, `${name}-${createHash('sha256').update(packages.join()).digest('hex').slice(0, 8)}`)

async function must(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, output } = await run(program, args, { cwd })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output.slice(-2000)}`)
}

/** As docs/read-the-data.md installs them. */
export const dbtPackages = [
  'dbt-core==1.11.*',
  'dbt-duckdb==1.11.*',
  'dbt-postgres',
  'dbt-metricflow==0.15.*',
] as const

/** The folder of the programs of a virtual environment with these packages. */
export async function pythonTool(name: string, packages: readonly string[]): Promise<string> {
  const folder = placeOf(name, packages)
  mkdirSync(dirname(folder), { recursive: true })
  const ready = `${folder}.ready`
  await madeOnce(ready, async () => {
    rmSync(folder, { recursive: true, force: true })
    await must('python3', ['-m', 'venv', folder], tmpdir())
    await must(join(folder, 'bin/pip'), ['install', '-q', ...packages], tmpdir())
    writeFileSync(ready, '')
  })
  return join(folder, 'bin')
}

/** The folder in which these packages can be required. */
export async function nodeTool(name: string, packages: readonly string[]): Promise<string> {
  const folder = placeOf(name, packages)
  mkdirSync(dirname(folder), { recursive: true })
  const ready = `${folder}.ready`
  await madeOnce(ready, async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    await must('npm', ['install', '--no-audit', '--no-fund', ...packages], folder)
    writeFileSync(ready, '')
  })
  return folder
}

export function writeFiles(folder: string, files: readonly BundleFile[]): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
