/** How often a process of the built program called each function, by the file of `src` that holds it. */
import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** File of `src` -> place of a function in it -> calls. */
export type CallCounts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** One file of NODE_V8_COVERAGE; the first range of a function is its whole text. */
interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly [{ readonly startOffset: number; readonly count: number }]
    }[]
  }[]
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Run when a module loads, whatever is done with it afterwards. */
const isLoading = (name: string, offset: number): boolean => offset === 0 || name === '<static_initializer>'

interface Place {
  readonly file: string
  readonly at: string
}

/** Finds the source of an offset in a chunk; undefined for what is not of `src`. */
function placesIn(chunk: string): (offset: number) => Place | undefined {
  const map = new SourceMap(JSON.parse(readFileSync(`${chunk}.map`, 'utf8')))
  const lines = readFileSync(chunk, 'utf8').split('\n')
  return offset => {
    let [line, left] = [0, offset]
    for (; left > (lines[line]?.length ?? 0) && line < lines.length; line += 1)
      left -= (lines[line]?.length ?? 0) + 1
    const found = map.findEntry(line, left)
    if (!('originalSource' in found)) return undefined
    const file = /(?:^|\.\.\/)(src\/.+)$/.exec(found.originalSource)?.[1]
    return file === undefined ? undefined : { file, at: `${found.originalLine}:${found.originalColumn}` }
  }
}

const readers = new Map<string, ReturnType<typeof placesIn>>()

function readerOf(chunk: string): ReturnType<typeof placesIn> {
  const reader = readers.get(chunk) ?? placesIn(chunk)
  readers.set(chunk, reader)
  return reader
}

/** `folder` is the NODE_V8_COVERAGE of the process. */
export function callCounts(folder: string): CallCounts {
  const counts = new Map<string, Map<string, number>>()
  const chunks = readdirSync(folder).flatMap(
    file => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage).result,
  )
  for (const { url, functions } of chunks) {
    if (!url.startsWith(`file://${join(root, 'dist')}/`)) continue
    const placeOf = readerOf(fileURLToPath(url))
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count }] = ranges
      const place = count > 0 && !isLoading(functionName, startOffset) ? placeOf(startOffset) : undefined
      if (!place) continue
      const ofFile = counts.get(place.file) ?? new Map<string, number>()
      counts.set(place.file, ofFile.set(place.at, (ofFile.get(place.at) ?? 0) + count))
    }
  }
  return counts
}

/** Files with a function that `more` called more often than `less`. */
export const calledMore = (more: CallCounts, less: CallCounts): string[] =>
  [...more]
    .filter(([file, calls]) => [...calls].some(([at, count]) => count > (less.get(file)?.get(at) ?? 0)))
    .map(([file]) => file)
    .sort()
