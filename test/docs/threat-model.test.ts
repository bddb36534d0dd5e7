/** Every attack of the threat model names the tests that hold it, and they exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8')

/** Cells of the rows below `| attack | what happens | test |`. */
const attacks = page
  .split('\n\n')
  .filter(block => /^\| attack /.test(block))
  .flatMap(block => block.trim().split('\n').slice(2))
  .map(row => row.split('|').map(cell => cell.trim()))

test.each(attacks.map(([, attack = '', happens = '', tests = '']) => [attack, happens, tests] as const))(
  '%s',
  (_, happens, tests) => {
    expect(happens).not.toBe('')
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? '')
    expect(files).not.toEqual([])
    expect(files.filter(file => !/^test\/.*\.test\.ts$/.test(file) || !existsSync(join(root, file)))).toEqual(
      [],
    )
  },
)
