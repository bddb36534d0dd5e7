/** Output that goes nowhere is no success: one line says so. A reader that goes away is no failure. */
import { spawnSync } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/captured-world.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

test
  .skipIf(!existsSync('/dev/full'))
  .each([['--help'], ['dag', 'list', '--json'], ['schema'], ['--version']])(
  'into a full disk, %s fails in one line',
  (...args) => {
    const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const
    const ended = spawnSync(process.execPath, [program, ...args], {
      cwd: temporaryFolder(),
      stdio: [...stdio],
      encoding: 'utf8',
    })
    expect([ended.status, ended.stderr]).toEqual([
      1,
      'muster: the output cannot be written, its disk is full: run the command again with its output elsewhere\n',
    ])
  },
)

test('a reader that goes away is no failure', () => {
  const line = `'${process.execPath}' '${program}' dag list --json; echo "code $?" >&2`
  const ended = spawnSync('sh', ['-c', `( ${line} ) | true`], { cwd: temporaryFolder(), encoding: 'utf8' })
  expect(ended.stderr).toBe('code 0\n')
})
