/**
 * npm run accept [-- PART ...]
 * Makes the recordings and the generated parts of the project again, and shows what differs from the last commit: for a change
 * on purpose. The parts are contract, docs, help, settings, examples, recordings, marts and rows; all of them take five minutes.
 */
import { spawnSync } from 'node:child_process'

interface Part {
  /** Arguments of vitest. */
  readonly test: readonly string[]
  /** It runs the program as it is built. */
  readonly runsBuilt?: true
}

const parts: Readonly<Record<string, Part>> = {
  contract: { test: ['test/contract/recorded.test.ts'] },
  docs: { test: ['test/docs/generated.test.ts'] },
  help: { test: ['test/cli/help-golden.test.ts'] },
  settings: { test: ['test/config/schema.test.ts'] },
  examples: { test: ['test/semantic/questions.runs.test.ts'] },
  recordings: { test: ['test/cli/recordings.runs.test.ts'], runsBuilt: true },
  marts: { test: ['test/marts/audit/worn.runs.test.ts', 'test/marts/small-errors.runs.test.ts'] },
  rows: { test: ['--project', 'long', 'test/runs/golden.long.test.ts'] },
}

const asked = process.argv.slice(2)
const unknown = asked.filter(name => parts[name] === undefined)
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(', ')}: the parts are ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}

const run = (...command: readonly [string, ...string[]]): boolean =>
  spawnSync(command[0], command.slice(1), { stdio: 'inherit' }).status === 0

const isMade = ({ test, runsBuilt }: Part): boolean =>
  (!runsBuilt || run('npm', 'run', '-s', 'build')) && run('npx', 'vitest', 'run', ...test, '--update')

const failed = Object.entries(parts).filter(
  ([name, part]) => (asked.length === 0 || asked.includes(name)) && !isMade(part),
)
run('git', '--no-pager', 'diff', '--stat', 'HEAD')
// New files are in no diff.
run('git', 'status', '--short')
if (failed.length > 0) console.error(`failed: ${failed.map(([name]) => name).join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)
