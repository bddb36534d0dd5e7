/**
 * judge-texts.ts MUTANTS NOTES, in a copy of the project
 * Tries the alterations of SQL in TypeScript that are not noted yet against the rules tests that reach them.
 */
import { readFileSync } from 'node:fs'
import { RulesTestRunner } from '../runner/plugin.ts'
import { noteState, statesIn } from './notes.ts'

const [mutants = '', notes = ''] = process.argv.slice(2)
const runner = new RulesTestRunner()
await runner.init()
const { tests: rules, coverage } = await runner.reached()
const broken = rules.find(({ failure }) => failure !== undefined)
if (broken) throw new Error(`${broken.name} fails without any alteration: ${broken.failure}`)
for (const id of JSON.parse(readFileSync(mutants, 'utf8')) as string[]) {
  if (statesIn(notes).has(id)) continue
  const tests = Object.keys(coverage.perTest).filter(test => coverage.perTest[test]?.[id])
  if (tests.length > 0) {
    noteState(notes, { id, state: 'begun' })
    const { killer } = await runner.judge({ mutant: id, tests, hitLimit: undefined })
    noteState(notes, { id, state: killer ? 'killed' : 'survived' })
  } else if (!coverage.static[id]) noteState(notes, { id, state: 'not reached' })
}
await runner.dispose()
// Vitest leaves 1 behind where an alteration has failed a test.
process.exit(0)
