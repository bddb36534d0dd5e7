/**
 * Lists where data was written outside the warehouse, in a file beside it, so that muster forget reaches those places
 * too.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { MusterError } from '../lib/errors.ts'
import { regularFile } from '../lib/input-file.ts'

const shape = z.object({
  place: z.string(),
  /** An answer is the result of a query. */
  made: z.enum(['export', 'copy', 'company', 'answer']),
  includesPii: z.boolean(),
  /** Id of the company whose rows a published copy has. */
  company: z.string().optional(),
})

export type ListedOutput = z.infer<typeof shape>

/** Path beside the file of a warehouse, else beside its landed pages. */
export const outputsFile = (stem: string): string => `${stem.replace(/\.duckdb$/, '')}.outputs`

/** Whether it must contain no personal data; a copy of a warehouse contains all of it. */
export const isForReaders = ({ made, includesPii }: ListedOutput): boolean =>
  made === 'company' || (made === 'export' && !includesPii)

export function recordOutput(stem: string, output: ListedOutput): void {
  const file = outputsFile(stem)
  if (existsSync(file)) requireFile(file)
  try {
    // A user of a server may have no landed pages here.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${JSON.stringify(output)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new MusterError({
      what: 'the list of outputs cannot be written, and muster forget would miss this output',
      where: file,
      next: 'check the permissions of its folder; nothing was written',
      cause,
    })
  }
}

/** Throws MusterError: without the list, the outputs that contain a person are unknown. */
function requireFile(file: string): void {
  if (regularFile(file)) return
  throw new MusterError({
    what: 'the list of outputs is not a file',
    where: file,
    next: 'restore the file, or remove what is in its place',
  })
}

/** Each place once, with its last output; leaves out a truncated line. */
export function outputsOf(stem: string): readonly ListedOutput[] {
  const file = outputsFile(stem)
  if (!existsSync(file)) return []
  requireFile(file)
  const found = new Map<string, ListedOutput>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const output = parsed(line)
    if (output) found.set(output.place, output)
  }
  return [...found.values()].filter(isThere)
}

/** Whether the output still exists; anything else in its place, such as a pipe, is not ours. */
function isThere({ place, made }: ListedOutput): boolean {
  if (!existsSync(place)) return false
  const found = statSync(place)
  return made === 'export' ? found.isDirectory() : found.isFile()
}

function parsed(line: string): ListedOutput | undefined {
  try {
    return shape.safeParse(JSON.parse(line)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
