/** Hooks of modules that test files share would be those of the first file that imports them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const hook = /^(?:after|before)(?:All|Each)\(/m

test('only test files, and what Vitest runs before each of them, have hooks outside functions', () => {
  const folder = join(import.meta.dirname, '..')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    file => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  const hooked = files.filter(file => hook.test(readFileSync(join(folder, file), 'utf8')))
  expect(hooked).toEqual([join('support', 'every-file.ts')])
})
