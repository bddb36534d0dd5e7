/**
 * npm run mutate:stories [-- PART-OF-A-PATH]
 * Plants one by one the slips that only a story can notice, and runs the story that must fail.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { everySlip } from './known/index.ts'
import type { Slip } from './known.ts'

/** Whether the tests of the file fail. */
function isNoticed({ test }: Slip): boolean {
  const { status, stdout } = spawnSync('npx', ['vitest', 'run', test], { encoding: 'utf8' })
  if (stdout.includes('No test files found'))
    throw new Error(`${test} is in neither npm test nor npm run test:runs`)
  return status !== 0
}

function tried(slip: Slip): boolean {
  const source = readFileSync(slip.file, 'utf8')
  try {
    writeFileSync(
      slip.file,
      source.replace(slip.before, () => slip.after),
    )
    return isNoticed(slip)
  } finally {
    writeFileSync(slip.file, source)
  }
}

const [part = ''] = process.argv.slice(2)
const results = everySlip
  .filter(({ file, test }) => file.includes(part) || test.includes(part))
  .map(slip => {
    const noticed = tried(slip)
    console.log(`${noticed ? 'caught' : 'MISSED'}  ${slip.file}  ${slip.harm}  (${slip.test})`)
    return noticed
  })
const missed = results.filter(noticed => !noticed).length
console.log(`${results.length - missed} of ${results.length} slips caught`)
process.exit(missed > 0 ? 1 : 0)
