/** Other names of commands, and the manual page. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { unaliased } from '../../src/cli/shell/global-options.ts'
import { muster } from '../support/captured-world.ts'

test.each([
  ['run nightly', 'dag run nightly'],
  ['--connection run run nightly --json', '--connection run dag run nightly --json'],
  ['help run', 'help dag run'],
  ['query select', 'sql select'],
  ['runs', 'runs'],
  ['sync run', 'sync run'],
  ['', ''],
])('%j is %j', (typed, meant) => {
  const words = (line: string): string[] => line.split(' ').filter(Boolean)
  expect(unaliased(words(typed), commandSet)).toEqual(words(meant))
})

test('no other name is that of a command or a group, or stands for two', () => {
  const aliases = Object.values(commandSet.commands).flatMap(({ aliases: own = [] }) => own)
  const taken = [...Object.keys(commandSet.commands).map(name => name.split(' ')[0]), ...aliases]
  for (const alias of aliases) expect(taken.filter(name => name === alias)).toEqual([alias])
})

test('a slip in the name of a DAG is corrected, and the help shows the other name', async () => {
  expect((await muster('run nigthly')).err).toContain('did you mean nightly?')
  expect((await muster('dag run --help')).out).toContain('Also: muster run')
})

test('the manual page has every command, option and exit code, and roff can read it', async () => {
  const { code, out } = await muster('man')
  expect(code).toBe(0)
  for (const [name, { summary }] of Object.entries(commandSet.commands)) {
    expect(out).toContain(`.SS ${name.replaceAll('-', '\\-')}\n`)
    expect(out).toContain(summary.replaceAll('-', '\\-').slice(0, 30))
  }
  expect(out).toContain('\\fB\\-\\-max\\-requests <number>\\fR')
  const lint = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], { input: out, encoding: 'utf8' })
  // TH has no date: the page is the same whenever it is made.
  const known = /missing date|^$/
  if (!lint.error) expect(lint.stdout.split('\n').filter(line => !known.test(line))).toEqual([])
})
