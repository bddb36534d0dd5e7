/** Each guarantee says what it assumes and costs, what happens otherwise, and which tests of the suite prove it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

const guarantees = readFileSync(join(root, 'docs/guarantees.md'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map(text => [text.slice(0, text.indexOf('\n')), text] as const)

const labels = ['Guarantee.', 'Assumes.', 'Costs.', 'Otherwise.', 'Proved by']

test.each(guarantees)('%s', (_, text) => {
  expect([...text.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, label]) => label)).toEqual(labels)
  const proof = text.slice(text.indexOf('**Proved by**'))
  const tests = [...proof.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => String(path))
  expect(tests).not.toEqual([])
  expect(tests.filter(path => !/\.test\.ts$/.test(path) || !existsSync(join(root, path)))).toEqual([])
})
