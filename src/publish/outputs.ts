/** Where data was written besides the warehouse: a list in a file beside it, so that forgetting a person reaches there too. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const shape = z.object({
  place: z.string(),
  made: z.enum(['export', 'copy']),
  includesPii: z.boolean(),
})

export type Output = z.infer<typeof shape>

/** Beside the file of a warehouse, or else beside its landed pages. */
const outputsFile = (stem: string): string => `${stem.replace(/\.duckdb$/, '')}.outputs`

/** Whether it must hold no personal data; a copy of a warehouse holds all of it. */
export const isForReaders = ({ made, includesPii }: Output): boolean => made === 'export' && !includesPii

export function recordOutput(stem: string, output: Output): void {
  appendFileSync(outputsFile(stem), `${JSON.stringify(output)}\n`, { mode: 0o600 })
}

/** Each place once, as it was written last; a line that was cut off is left out. */
export function outputsOf(stem: string): readonly Output[] {
  const file = outputsFile(stem)
  if (!existsSync(file)) return []
  const found = new Map<string, Output>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const output = parsed(line)
    if (output) found.set(output.place, output)
  }
  return [...found.values()].filter(({ place }) => existsSync(place))
}

function parsed(line: string): Output | undefined {
  try {
    return shape.safeParse(JSON.parse(line)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
