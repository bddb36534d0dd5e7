/** Each guarantee says what it assumes and costs, and what happens otherwise; each of these sentences has a test that proves it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { claimsOf, paragraphsOf, read, root, withoutTest } from './claimed.ts'

const page = read('docs/guarantees.md')

const guarantees = page
  .split(/^## /m)
  .slice(1)
  .map(text => [text.slice(0, text.indexOf('\n')), text] as const)

const labels = ['Guarantee.', 'Assumes.', 'Costs.', 'Otherwise.', 'Proved by']

test.each(guarantees)('says what it assumes, what it costs, and what happens otherwise: %s', (_, text) => {
  expect([...text.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, label]) => label)).toEqual(labels)
  const proof = text.slice(text.indexOf('**Proved by**'))
  const tests = [...proof.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => String(path))
  expect(tests).not.toEqual([])
  expect(tests.filter(path => !/\.test\.ts$/.test(path) || !existsSync(join(root, path)))).toEqual([])
})

const claims = claimsOf('What the guarantees say')
const paragraphs = paragraphsOf(page).map(one => one.replace(/^- \*\*\w+\.\*\* /, '').replaceAll('**', ''))

/** Of the paragraphs that are no lists of tests, the parts that semicolons divide. What ends without a stop is a link. */
const sentences = paragraphs
  .filter(one => !one.startsWith('- Proved by'))
  .flatMap(one => one.split(/(?<=[.!?])\s+(?=[A-Z`*])/))
  .filter(one => /[.:]$/.test(one))
  .flatMap(one => one.split('; '))

test.each(sentences)('have a row in the table: %s', sentence => {
  expect(sentences.length).toBeGreaterThan(100)
  expect(claims.some(({ claim }) => sentence.includes(claim))).toBe(true)
})

test('the table has the words of the page, and a test of each name in its file', () => {
  const whole = paragraphs.join(' ')
  expect(claims.filter(({ claim }) => !whole.includes(claim))).toEqual([])
  expect(withoutTest(claims)).toEqual([])
})

test('the sweep of the weekly DAG is due once a week', () => {
  const dag = parse(read('dags/weekly.yaml')) as { schedule: string; tasks: Record<string, { run: string }> }
  expect(dag.schedule).toMatch(/^\d+ \d+ \* \* \d$/)
  expect(Object.values(dag.tasks).map(({ run }) => run)).toContain('sweep')
})
