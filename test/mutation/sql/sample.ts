/** The mutants of SQL files, or a sample of them, from which the share that is noticed can be told. */
import { readFileSync } from 'node:fs'
import { mutantsOf, type SqlMutant } from './mutants.ts'

export interface FileMutant extends SqlMutant {
  readonly id: string
  readonly file: string
}

/** `7` is every seventh of all files together, `7+3` another sample: every seventh from the fourth on. */
export function sampleOf<One>(all: readonly One[], every: string): readonly One[] {
  const [, step, offset = '0'] = /^(\d+)(?:\+(\d+))?$/.exec(every) ?? []
  if (!Number(step)) throw new Error(`MUSTER_SQL_EVERY is ${every}; write 7 or 7+3, say`)
  return all.filter((_, place) => place % Number(step) === Number(offset) % Number(step))
}

/** MUSTER_SQL_EVERY chooses; all of them without it. */
export function fileMutants(files: readonly string[]): readonly FileMutant[] {
  const all = files.flatMap(file =>
    mutantsOf(readFileSync(file, 'utf8')).map((mutant, place) => ({
      id: `${file}#${place}`,
      file,
      ...mutant,
    })),
  )
  return sampleOf(all, process.env.MUSTER_SQL_EVERY ?? '1')
}
