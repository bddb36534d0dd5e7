/** Tries the mutants of SQL files in processes of their own, and says what became of them, by folder. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { FolderResult } from '../report.ts'
import { statesOf } from './notes.ts'
import { sqlResults } from './results.ts'
import { type FileMutant, fileMutants } from './sample.ts'
import { tryParts } from './try-parts.ts'

const notes = '.mutation/sql.ndjson'

export function trySql(files: readonly string[]): readonly FolderResult[] {
  if (files.length === 0) return []
  const all = fileMutants(files)
  const env = { ...process.env, MUSTER_SQL_FILES: JSON.stringify(files), MUSTER_SQL_NOTES: notes }
  const command = ['vitest', 'run', '--config', 'test/mutation/sql/vitest.config.ts']
  const states = statesOf(notes, () => spawnSync('npx', command, { stdio: 'inherit', env }))
  const isLeft = ({ id, file }: FileMutant) => file.startsWith('sql/part/') && states.get(id) !== 'killed'
  const byRules = tryParts(all.filter(isLeft))
  const tried = all.flatMap(mutant => {
    const byRule = byRules.get(mutant.id) ?? 'not reached'
    const state = byRule === 'not reached' ? states.get(mutant.id) : byRule
    return state === undefined ? [] : [{ ...mutant, state }]
  })
  writeFileSync('.mutation/sql.json', JSON.stringify(tried))
  return sqlResults(tried)
}
