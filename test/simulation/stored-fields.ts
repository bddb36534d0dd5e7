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

function readFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1'))
}

/** Searches landed pages for treated values. Returns how many values it searched for, and a fault for each that it found. */
export function findTreatedValues({ disk, service, environment, scenario }: Setting): {
  checked: number
  faults: string[]
} {
  const lists: readonly ListName[] = scenario.lists
  const values = lists.flatMap(list =>
    service.world.all(collectionOf(list)).flatMap(record =>
      Object.entries(treatedValues).flatMap(([pattern, value]) => {
        const text =
          pattern in environment.fields &&
          (pattern.startsWith('*') || pattern.startsWith(list)) &&
          value(record)
        return typeof text === 'string' && text.length > 5 ? [text] : []
      }),
    ),
  )
  const files = values.length === 0 ? [] : readFiles(join(disk.folder, 'landing'))
  const found = values.filter(value =>
    files.some(bytes => bytes.includes(JSON.stringify(value).slice(1, -1))),
  )
  return {
    checked: files.length === 0 ? 0 : values.length,
    faults: found.map(() => 'a landed page has a blocked or hashed value'),
  }
}
