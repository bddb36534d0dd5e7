/** Where data was written besides the warehouse: a list in a file beside it, so that forgetting a person reaches there too. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { MusterError } from '../lib/errors.ts'
import { regularFile } from '../lib/input-file.ts'

const shape = z.object({
  place: z.string(),
  /** An answer is what a query made of the data. */
  made: z.enum(['export', 'copy', 'company', 'answer']),
  includesPii: z.boolean(),
  /** The id of the one whose rows a published copy has. */
  company: z.string().optional(),
})

export type Output = z.infer<typeof shape>

/** Beside the file of a warehouse, or else beside its landed pages. */
export const outputsFile = (stem: string): string => `${stem.replace(/\.duckdb$/, '')}.outputs`

/** Whether it must hold no personal data; a copy of a warehouse holds all of it. */
export const isForReaders = ({ made, includesPii }: Output): boolean =>
  made === 'company' || (made === 'export' && !includesPii)

export function recordOutput(stem: string, output: Output): void {
  const file = outputsFile(stem)
  if (existsSync(file)) requireFile(file)
  try {
    // A user of a server may have no landed pages here.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${JSON.stringify(output)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new MusterError({
      what: 'what is written from the warehouse cannot be listed, and muster forget would not know it',
      where: file,
      next: 'check the permissions of its folder; nothing was written',
      cause,
    })
  }
}

/** Throws MusterError: without the list nothing tells what a person is in. */
function requireFile(file: string): void {
  if (regularFile(file)) return
  throw new MusterError({
    what: 'the list of what was written from the warehouse is no file',
    where: file,
    next: 'put the file back there, or remove what is in its place',
  })
}

/** Each place once, as it was written last; a line that was cut off is left out. */
export function outputsOf(stem: string): readonly Output[] {
  const file = outputsFile(stem)
  if (!existsSync(file)) return []
  requireFile(file)
  const found = new Map<string, Output>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const output = parsed(line)
    if (output) found.set(output.place, output)
  }
  return [...found.values()].filter(isThere)
}

/** Whatever else is in its place by now, such as a pipe, is none of ours. */
function isThere({ place, made }: Output): boolean {
  if (!existsSync(place)) return false
  const found = statSync(place)
  return made === 'export' ? found.isDirectory() : found.isFile()
}

function parsed(line: string): Output | undefined {
  try {
    return shape.safeParse(JSON.parse(line)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
