/** What is read of a file before it is replaced. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { beginningOf } from '../../src/temporary/output-file.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)

test('the beginning of a file has at most the bytes asked for', () => {
  writeFileSync(at('file'), 'written by muster')
  expect(beginningOf(at('file'), 7).toString()).toBe('written')
  expect(beginningOf(at('file')).toString()).toBe('written by muster')
})

test.each([
  ['a link', () => symlinkSync(at('file'), at('path'))],
  ['a folder', () => mkdirSync(at('path'))],
  ['no file', () => undefined],
])('of %s, the beginning is empty', (_, make) => {
  rmSync(at('path'), { recursive: true, force: true })
  make()
  expect(beginningOf(at('path'))).toHaveLength(0)
})
