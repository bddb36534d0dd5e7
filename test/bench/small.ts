/**
 * The sync that runs most: nothing new, or 500 changed, where 100,000 timesheets with timelogs are held. Beside it what
 * DuckDB itself takes to open such a file, ask it, write a row and close it. Times are of the processor, all threads.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measured, middle, muster, type Spent, table } from './spent.ts'
import { startServer } from './sync-run.ts'

export interface SmallOptions {
  readonly count: number
  readonly rounds: number
  /** Folder of another version of the program, built; measured in turn with this one. */
  readonly beside?: string
}

interface Held {
  readonly folder: string
  readonly file: string
}

const changed = 500

/** A copy for each run, so that each meets the same warehouse. */
function copyOf({ folder }: Held, place: string): Held {
  rmSync(place, { recursive: true, force: true })
  cpSync(folder, place, { recursive: true })
  return { folder: place, file: join(place, 'held.duckdb') }
}

async function hold(program: string, url: string, folder: string): Promise<Held> {
  const file = join(folder, 'held.duckdb')
  const sync = (...resources: string[]) =>
    muster(program, ['sync', ...resources, '--quiet'], { url, warehouse: `duckdb:${file}` })
  await sync('users')
  // The second sync archives the pages of the first, and the third is the first that has nothing to do.
  for (let times = 0; times < 4; times += 1) await sync('timesheets')
  if (!existsSync(file)) throw new Error('the warehouse was not made')
  return { folder, file }
}

export async function benchSmall({ count, rounds, beside }: SmallOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'muster-small-'))
  const same = await startServer({ count, timelogs: 'with' })
  const later = await startServer({ count, timelogs: 'with', changed })
  const programs = [...(beside ? [['before', beside] as const] : []), ['now', process.cwd()] as const]
  const spent = new Map<string, Spent[]>()
  const add = (name: string, one: Spent): void => void spent.set(name, [...(spent.get(name) ?? []), one])
  try {
    const held = new Map<string, Held>()
    for (const [name, program] of programs)
      held.set(name, await hold(program, same.url, join(root, `held-${name}`)))
    for (let round = 0; round < rounds; round += 1)
      for (const [name, program] of programs) {
        const copy = copyOf(held.get(name) as Held, join(root, 'copy'))
        const warehouse = `duckdb:${copy.file}`
        add('floor', await measured(['--import', 'tsx', 'test/bench/open-floor.ts', copy.file]))
        const sync = ['sync', 'timesheets', '--quiet']
        add(`nothing new, ${name}`, await muster(program, sync, { url: same.url, warehouse }))
        add(`${changed} changed, ${name}`, await muster(program, sync, { url: later.url, warehouse }))
        add(`--version, ${name}`, await muster(program, ['--version'], { url: same.url, warehouse }))
      }
    const bytes = statSync(held.get('now')?.file ?? '').size
    console.log(
      `${count.toLocaleString('en')} held, ${Math.round(bytes / 1e6)} MB, medians of ${rounds} rounds`,
    )
    table(spent, middle(spent.get('floor') ?? []))
  } finally {
    same.process.kill()
    later.process.kill()
    rmSync(root, { recursive: true, force: true })
  }
}
