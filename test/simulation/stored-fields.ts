/** Checks the field policy: no landed page has a value of a blocked or hashed field. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectionOf, type ListName } from './scenario.ts'
import type { Setting } from './setting.ts'

/** Reads a treated value from a record, by the pattern of the policy. */
const treatedValues: Readonly<Record<string, (record: Readonly<Record<string, unknown>>) => unknown>> = {
  '*.email': ({ email }) => email,
  'timesheets.worker.*': ({ worker }) => (worker as { name?: unknown } | undefined)?.name,
}

interface LandedFile {
  readonly path: string
  readonly bytes: string
}

function readFiles(folder: string): LandedFile[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return { path, bytes: readFileSync(path).toString('latin1') }
    })
}

interface TreatedValue {
  readonly text: string
  /** Whether the policy treats what this file holds: a rule of one list leaves other resources as they are. */
  readonly covers: (path: string) => boolean
}

/** Searches landed pages for treated values. Returns how many values it searched for, and a fault for each that it found. */
export function findTreatedValues({ disk, service, environment, scenario }: Setting): {
  checked: number
  faults: string[]
} {
  const lists: readonly ListName[] = scenario.lists
  const values = lists.flatMap(list =>
    service.world.all(collectionOf(list)).flatMap(record =>
      Object.entries(treatedValues).flatMap(([pattern, value]): TreatedValue[] => {
        const isEverywhere = pattern.startsWith('*')
        const text =
          pattern in environment.fields && (isEverywhere || pattern.startsWith(list)) && value(record)
        if (typeof text !== 'string' || text.length <= 5) return []
        return [{ text, covers: path => isEverywhere || path.includes(list) }]
      }),
    ),
  )
  const files = values.length === 0 ? [] : readFiles(join(disk.folder, 'landing'))
  const found = values.filter(({ text, covers }) =>
    files.some(({ path, bytes }) => covers(path) && bytes.includes(JSON.stringify(text).slice(1, -1))),
  )
  return {
    checked: files.length === 0 ? 0 : values.length,
    faults: found.map(({ text }) => `a landed page has the blocked or hashed value ${text}`),
  }
}
