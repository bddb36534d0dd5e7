/** The first sync of the sandbox as `muster demo` makes it, one with nothing new, and a replay of what was landed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { startSandbox } from './own-sandbox.ts'
import { root } from './root.ts'
import { middle, muster, type Spent, table } from './spent.ts'

export interface FirstOptions {
  readonly rounds: number
  /** Folder of another version of the program, built; measured in turn with this one. */
  readonly beside?: string
}

/** Each round meets a sandbox of its own, as its limits of a day are used up by three. */
async function round(name: string, program: string, add: (name: string, one: Spent) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-first-'))
  const sandbox = await startSandbox()
  const at = {
    url: sandbox.url,
    key: sandboxKeys.company,
    warehouse: `duckdb:${join(folder, 'first.duckdb')}`,
  }
  try {
    add(`first sync, ${name}`, await muster(program, ['sync', '--quiet'], at))
    add(`nothing new, ${name}`, await muster(program, ['sync', '--quiet'], at))
    add(`replay, ${name}`, await muster(program, ['replay', '--quiet'], at))
  } finally {
    sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function benchFirst({ rounds, beside }: FirstOptions): Promise<void> {
  const spent = new Map<string, Spent[]>()
  const add = (name: string, one: Spent): void => void spent.set(name, [...(spent.get(name) ?? []), one])
  for (let turn = 0; turn < rounds; turn += 1) {
    if (beside) await round('before', beside, add)
    await round('now', root, add)
  }
  console.log(`the sandbox of muster demo, medians of ${rounds} rounds, beside its own first sync`)
  table(spent, middle(spent.get(beside ? 'first sync, before' : 'first sync, now') ?? []))
}
