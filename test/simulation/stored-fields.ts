/** The law of the field policy: no file of a seed has a value of a field that is blocked or hashed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectionOf, type ListName } from './climate.ts'
import type { Setting } from './setting.ts'

/** Fields of a list that every drawn policy about it treats, by the pattern that does. */
const planted: Readonly<Record<string, (record: Readonly<Record<string, unknown>>) => unknown>> = {
  '*.email': ({ email }) => email,
  'timesheets.worker.*': ({ worker }) => (worker as { name?: unknown } | undefined)?.name,
}

function bytesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1'))
}

/** Looks at landed pages; how many values were looked for, and those that were found. */
export function storedFields({ disk, service, place, climate }: Setting): {
  asked: number
  faults: string[]
} {
  const lists: readonly ListName[] = climate.lists
  const values = lists.flatMap(list =>
    service.world.all(collectionOf(list)).flatMap(record =>
      Object.entries(planted).flatMap(([pattern, value]) => {
        const text =
          pattern in place.fields && (pattern.startsWith('*') || pattern.startsWith(list)) && value(record)
        return typeof text === 'string' && text.length > 5 ? [text] : []
      }),
    ),
  )
  const files = values.length === 0 ? [] : bytesOf(join(disk.folder, 'landing'))
  const found = values.filter(value =>
    files.some(bytes => bytes.includes(JSON.stringify(value).slice(1, -1))),
  )
  return {
    asked: files.length === 0 ? 0 : values.length,
    faults: found.map(() => 'a landed page has a blocked or hashed value'),
  }
}
