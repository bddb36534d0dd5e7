/** The rows that test/contract/contract.runs.test.ts runs cover the contract's operations and all that the sandbox declares. */
import { expect, it } from 'vitest'
import { eventTypes } from '../../src/contract/events.ts'
import type { ParameterKind } from '../../src/contract/fields/operation.ts'
import { groupBy } from '../../src/lib/group-by.ts'
import { querySchemas } from '../../src/sandbox/declare/parameters.ts'
import { endpoints } from '../../src/sandbox/endpoints/endpoints.ts'
import { coverageTables } from './coverage-tables.ts'
import { OPERATIONS, readsByPath } from './operations.ts'
import { rows } from './rows.ts'
import { openStand } from './stand.ts'
import { bodyOf, keyOf, targetOf } from './targets.ts'

const stand = await openStand()
it('no row stands twice', () => {
  const names = rows.map(({ kind, what }) => `${kind} ${what}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('is printed with the test of each row', () => {
  const printed = coverageTables().split('\n')
  const testOf = (line: string): string => line.split('|').at(-2)?.trim() ?? ''
  const tests = rows.map(({ kind, what }) => `${kind} ${what}`)
  expect(printed.map(testOf).filter(name => tests.includes(name))).toHaveLength(rows.length)
})

it('has the paths that the sandbox declares, and its events', () => {
  const declared = endpoints.map(({ path }) => path.replace(':id', '{id}'))
  expect(OPERATIONS.map(({ name }) => name.split(' ')[1]).sort()).toEqual(declared.sort())
  const events = rows.filter(({ kind }) => kind === 'event').map(({ what }) => what)
  expect(events.sort()).toEqual([...eventTypes].sort())
})

/** The values of a parameter that has a closed list of them, else null. */
const valuesIn = (kind: ParameterKind): readonly string[] | null =>
  Array.isArray(kind) ? kind.toSorted() : null

/** What the contract and the sandbox each say that a path takes: the one beside the other. */
it.each([...readsByPath])(
  'src/contract/operations.ts and src/sandbox/endpoints agree on %s',
  (path, reads) => {
    const endpoint = endpoints.find(one => one.method === 'GET' && one.path === path.replace('{id}', ':id'))
    const fixed = groupBy(
      reads.flatMap(({ fixed = {} }) => Object.entries(fixed)),
      ([name]) => name,
    )
    const ofContract = {
      ...Object.fromEntries(
        reads
          .flatMap(({ parameters }) => Object.entries(parameters))
          .map(([name, kind]) => [name, valuesIn(kind)]),
      ),
      ...Object.fromEntries(
        [...fixed].map(([name, values]) => [name, values.map(([, value]) => value).sort()]),
      ),
    }
    const ofSandbox = Object.entries(querySchemas(endpoint?.parameters ?? {})).map(
      ([name, { type, enum: values }]) => [
        name,
        type === 'boolean' || !values ? null : (values as string[]).toSorted(),
      ],
    )
    expect(Object.fromEntries(ofSandbox)).toEqual(ofContract)
  },
)

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
