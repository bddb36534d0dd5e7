/** Each sentence of the README about what Muster does is claimed once in docs/claims.md, with a test of that name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const claims = [...read('docs/claims.md').matchAll(/^\| (.+?) +\| `(test\/.+?)` +\| (.+?) +\|$/gm)].map(
  ([, claim = '', file = '', name = '']) => ({ claim, file, name }),
)

/** Up to work on it: without code and tables, and with the texts of links in their places. */
const text = read('README.md')
  .slice(0, read('README.md').indexOf('## Work on it'))
  .replace(/```[\s\S]*?```/g, '')
  .replace(/^[#|].*$/gm, '')
  .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const paragraphs = text.split(/\n\s*\n|\n(?=- )/).map(one => one.replace(/\s+/g, ' ').trim())

const sentences = paragraphs
  .flatMap(one => one.split(/(?<=[.!?])\s+(?=[A-Z`*])/))
  .filter(one => /[.:]$/.test(one))

test('are the sentences of the README', () => {
  expect(claims.length).toBeGreaterThan(40)
  const whole = paragraphs.join(' ').replaceAll('**', '')
  expect(claims.filter(({ claim }) => !whole.includes(claim))).toEqual([])
})

test.each(sentences)('%s', sentence => {
  const plain = sentence.replaceAll('**', '')
  expect(claims.some(({ claim }) => plain.includes(claim))).toBe(true)
})

test('have a test of that name in its file', () => {
  expect(claims.filter(({ file, name }) => !read(file).includes(name))).toEqual([])
})
