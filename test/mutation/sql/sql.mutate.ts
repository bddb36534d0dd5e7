/** Tries every mutant of the chosen SQL files in one process, and writes what became of each. */
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { ChecksJudge } from './checks-judge.ts'
import { MartsJudge } from './marts-judge.ts'
import { altered, mutantsOf } from './mutants.ts'
import { withText } from './overlay.ts'

const files: readonly string[] = JSON.parse(process.env['MUSTER_SQL_FILES'] ?? '[]')
const marts = new MartsJudge()
const checks = new ChecksJudge(marts)

test('mutants', async () => {
  const needs = {
    marts: files.some(f => !f.startsWith('sql/check')),
    checks: files.some(f => !f.startsWith('sql/mart/')),
  }
  await marts.open()
  if (needs.checks) await checks.open()
  console.log('open', Math.round(performance.now()))
  const results: object[] = []
  for (const file of files) {
    const began = performance.now()
    const sql = readFileSync(file, 'utf8')
    let killed = 0
    const all = mutantsOf(sql)
    for (const mutant of all.filter(
      (_, place) => place % Number(process.env['MUSTER_SQL_EVERY'] ?? 1) === 0,
    )) {
      const at = performance.now()
      const judges = withText(file, altered(sql, mutant), () => {
        try {
          return [
            ...(needs.marts && !file.startsWith('sql/check/') ? [marts.judge()] : []),
            ...(needs.checks && !file.startsWith('sql/mart/') ? [checks.judge()] : []),
          ]
        } catch {
          return [{ readers: 1, isNoticed: async () => true }]
        }
      })
      let isKilled = false
      for (const judge of judges) isKilled ||= await judge.isNoticed()
      const readers = judges.reduce((sum, { readers }) => sum + readers, 0)
      if (performance.now() - at > 3000)
        console.log('slow', Math.round(performance.now() - at), file, mutant.start, mutant.replacement)
      if (isKilled) killed += 1
      results.push({ file, ...mutant, isKilled, readers })
    }
    console.log(file, killed, 'of', all.length, Math.round(performance.now() - began))
    writeFileSync(process.env['MUSTER_SQL_OUT'] ?? '.mutation/sql.json', JSON.stringify(results))
  }
  await marts.close()
})
