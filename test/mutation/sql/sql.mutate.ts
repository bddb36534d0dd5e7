/** Tries the mutants of SQL that are not noted yet, in one process: `npm run mutate` starts it, and reads what it notes. */
import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { ChecksJudge } from './checks-judge.ts'
import { type Judged, MartsJudge } from './marts-judge.ts'
import { altered } from './mutants.ts'
import { noteState, statesIn } from './notes.ts'
import { withText } from './overlay.ts'
import { type FileMutant, fileMutants } from './sample.ts'

const { MUSTER_SQL_FILES = '[]', MUSTER_SQL_NOTES = '.mutation/sql.ndjson' } = process.env
const files: readonly string[] = JSON.parse(MUSTER_SQL_FILES)
const marts = new MartsJudge()
const checks = new ChecksJudge(marts)

/** A part may be read by both. A text that cannot be read any more is noticed. */
function judged({ file, ...mutant }: FileMutant): readonly Judged[] {
  const judges = [
    file.startsWith('sql/check/') ? [] : marts,
    file.startsWith('sql/mart/') ? [] : checks,
  ].flat()
  try {
    const text = altered(readFileSync(file, 'utf8'), mutant)
    return withText(file, text, () => judges.map(judge => judge.judge()))
  } catch {
    return [{ readers: 1, isNoticed: async () => true }]
  }
}

async function isNoticed(all: readonly Judged[]): Promise<boolean> {
  for (const one of all) if (await one.isNoticed()) return true
  return false
}

test('mutants of SQL', async () => {
  const noted = statesIn(MUSTER_SQL_NOTES)
  const left = fileMutants(files).filter(({ id }) => !noted.has(id))
  await marts.open({ isForMarts: files.some(file => !file.startsWith('sql/check/')) })
  if (files.some(file => !file.startsWith('sql/mart/'))) await checks.open()
  for (const mutant of left) {
    const all = judged(mutant)
    noteState(MUSTER_SQL_NOTES, { id: mutant.id, state: 'begun' })
    const isKilled = await isNoticed(all)
    const isReached = all.some(({ readers }) => readers > 0)
    noteState(MUSTER_SQL_NOTES, {
      id: mutant.id,
      state: isKilled ? 'killed' : isReached ? 'survived' : 'not reached',
    })
  }
  await checks.close()
  await marts.close()
})
