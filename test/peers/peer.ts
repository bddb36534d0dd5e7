/** Muster and what people use in its place, each as the command that reads the same timesheets. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bench/root.ts'
import { run } from '../bench/sync-run.ts'
import { pythonEnvironment } from '../support/python-environment.ts'

const here = join(root, 'test/peers')

/** Some 400 MB, kept for the next time. */
export const python = (): string =>
  join(
    pythonEnvironment({ name: 'peers', wanted: ['-r', join(here, 'requirements.txt')], program: 'dlt' }),
    'bin/python',
  )

/** A DuckDB file or the address of a PostgreSQL database, and a folder for what the program keeps beside it. */
export interface Place {
  readonly warehouse: string
  readonly folder: string
}

export interface Peer {
  readonly name: string
  /** All ids that it holds, and when each was updated, in milliseconds. */
  readonly held: string
  readonly command: (python: string, url: string, place: Place) => readonly string[]
}

const dlt =
  (shape: 'one' | 'children'): Peer['command'] =>
  (interpreter, url, { warehouse, folder }) => [
    interpreter,
    join(here, 'with_dlt.py'),
    url,
    warehouse,
    shape,
    join(folder, shape),
  ]

const held = (table: string, id: string, at: string): string =>
  `select ${id} as id, cast(epoch_ms(cast(${at} as timestamptz)) as double) as at from ${table}`

export const peers: readonly Peer[] = [
  {
    name: 'Muster',
    held: `${held('star.fact_timesheet', 'timesheet_id', 'updated_at')} where not is_deleted`,
    command: () => [process.execPath, join(root, 'dist/main.js'), 'sync', 'timesheets', '--quiet'],
  },
  {
    name: 'dlt, one table',
    held: held('held.timesheet', 'id', 'updated_at'),
    command: dlt('one'),
  },
  {
    name: 'dlt, child tables',
    held: held('held.timesheet', 'id', 'updated_at'),
    command: dlt('children'),
  },
  {
    name: 'by hand, one table',
    held: held('timesheet', 'id', '"updatedAt"'),
    command: (interpreter, url, { warehouse }) => [interpreter, join(here, 'by_hand.py'), url, warehouse],
  },
]

export function emptied(place: Place): Place {
  rmSync(place.folder, { recursive: true, force: true })
  mkdirSync(place.folder, { recursive: true })
  return place
}

export interface Taken {
  /** Seconds of the processor, descendants included. */
  readonly cpu: number
  /** Greatest sum of the proportional set sizes, seen four times a second. */
  readonly megabytes: number
}

/** Throws when the program fails. */
export async function measured(peer: Peer, url: string, place: Place): Promise<Taken> {
  const interpreter = python()
  const isFile = !place.warehouse.startsWith('postgres')
  const command = [join(here, 'measured.py'), ...peer.command(interpreter, url, place)]
  const { stdout } = await run(interpreter, command, {
    cwd: place.folder,
    env: {
      ...process.env,
      MUSTER_BASE_URL: url,
      MUSTER_API_KEY: 'bench',
      MUSTER_WAREHOUSE: isFile ? `duckdb:${place.warehouse}` : place.warehouse,
    },
    maxBuffer: 1e8,
  })
  return JSON.parse(stdout) as Taken
}
