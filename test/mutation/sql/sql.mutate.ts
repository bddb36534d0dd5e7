/** Tries the mutants of the chosen SQL files in one process: `npm run mutate` starts it, and reads what it writes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { ChecksJudge } from './checks-judge.ts'
import { type Judged, MartsJudge } from './marts-judge.ts'
import { altered, mutantsOf } from './mutants.ts'
import { withText } from './overlay.ts'
import type { Tried } from './results.ts'

const {
  MUSTER_SQL_FILES = '[]',
  MUSTER_SQL_REPORT = '.mutation/sql.json',
  MUSTER_SQL_EVERY = '1',
} = process.env
const files: readonly string[] = JSON.parse(MUSTER_SQL_FILES)
const marts = new MartsJudge()
const checks = new ChecksJudge(marts)

/** A part may be read by both. A text that cannot be read any more is noticed. */
function judged(file: string, text: string): readonly Judged[] {
  const judges = [
    file.startsWith('sql/check/') ? [] : marts,
    file.startsWith('sql/mart/') ? [] : checks,
  ].flat()
  try {
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
  await marts.open()
  if (files.some(file => !file.startsWith('sql/mart/'))) await checks.open()
  const tried: Tried[] = []
  for (const file of files) {
    const sql = readFileSync(file, 'utf8')
    // Every seventh, say, is enough to know the share.
    const mutants = mutantsOf(sql).filter((_, place) => place % Number(MUSTER_SQL_EVERY) === 0)
    for (const mutant of mutants) {
      const all = judged(file, altered(sql, mutant))
      const readers = all.reduce((sum, one) => sum + one.readers, 0)
      tried.push({ file, ...mutant, readers, isKilled: await isNoticed(all) })
    }
    writeFileSync(MUSTER_SQL_REPORT, JSON.stringify(tried))
  }
  await marts.close()
})
