/**
 * docs/contract-coverage.md is written from the rows that test/contract/contract.test.ts runs: with WRITE_COVERAGE=1
 * anew. The rows are held against the contract's operations and against what the sandbox declares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { eventTypes } from '../../src/contract/events.ts'
import { access, writeAccess } from '../../src/sandbox/access.ts'
import { OPERATIONS } from './operations.ts'
import { kinds, type Row } from './row.ts'
import { rows } from './rows.ts'
import { openStand } from './stand.ts'
import { bodyOf, keyOf, targetOf } from './targets.ts'

const stand = await openStand()
const file = new URL('../../docs/contract-coverage.md', import.meta.url)

const titles: Readonly<Record<Row['kind'], string>> = {
  operation: 'operations',
  parameter: 'parameters of paths and queries',
  field: 'fields of bodies',
  key: 'rules of keys',
  error: 'errors of operations',
  limit: 'limits',
  event: 'events',
}

/** Columns are as wide as the formatter makes them. */
function table(kind: Row['kind']): string {
  const own = rows.filter(row => row.kind === kind)
  const cells = [
    ['what', 'contract', 'test'],
    ...own.map(({ what, where }) => [what, where, `${kind} ${what}`]),
  ]
  const widths = [0, 1, 2].map(column => Math.max(...cells.map(line => line[column]?.length ?? 0)))
  const lines = cells.map(line => `| ${line.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`
  const title = titles[kind]
  const head = `## ${title[0]?.toUpperCase()}${title.slice(1)}: ${own.length}`
  return [head, '', lines[0], rule, ...lines.slice(1)].join('\n')
}

function document(): string {
  const totals = kinds.map(kind => `${rows.filter(row => row.kind === kind).length} ${titles[kind]}`)
  return `${[
    '# Coverage of the contract',
    `${rows.length} rows, each with a test: ${totals.join(', ')}.`,
    [
      'A row is its test: `test/contract/contract.test.ts` runs one for each, over HTTP, and this file is written from',
      'the same rows (`WRITE_COVERAGE=1 npx vitest run test/contract/coverage.test.ts`). One test alone:',
      '`npx vitest run test/contract/contract.test.ts -t "NAME"`, NAME being a regular expression. The second column',
      'is the section of the contract; an operation is followed by the methods of the client that call it.',
    ].join('\n'),
    ...kinds.map(table),
  ].join('\n\n')}\n`
}

it('docs/contract-coverage.md is what the rows say', () => {
  if (process.env.WRITE_COVERAGE) writeFileSync(file, document())
  expect(readFileSync(file, 'utf8')).toBe(document())
})

it('no row stands twice', () => {
  const names = rows.map(({ kind, what }) => `${kind} ${what}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('has the paths that the sandbox declares, and its events', () => {
  const declared = Object.keys({ ...access, ...writeAccess }).map(path => path.replace(':id', '{id}'))
  expect(OPERATIONS.map(({ name }) => name.split(' ')[1]).sort()).toEqual(declared.sort())
  const events = rows.filter(({ kind }) => kind === 'event').map(({ what }) => what)
  expect(events.sort()).toEqual([...eventTypes].sort())
})

it.each(OPERATIONS)('$name has a row for each of its parameters, and takes no other', async operation => {
  const { name, parameters } = operation
  const shown = rows.filter(({ kind, what }) => kind === 'parameter' && what.startsWith(`${name} `))
  const ofPath = name.includes('{id}') ? ['id'] : []
  expect(shown.map(({ what }) => what.split(' ')[2]).sort()).toEqual([...ofPath, ...parameters].sort())
  const known = [...new Set(OPERATIONS.flatMap(other => other.parameters))]
  const foreign = known.filter(one => !parameters.includes(one))
  const query = foreign.map(one => `${one}=1`).join('&')
  const asked = { key: keyOf(name), body: bodyOf(stand, name) } as const
  const { status, body } = await stand.send(`${targetOf(stand, name)}?${query}`, asked)
  expect([status, body.error.message]).toEqual([400, `unknown parameter ${foreign.join(', ')}`])
})
