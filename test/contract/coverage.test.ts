/** The rows that test/contract/contract.test.ts runs cover the contract's operations and all that the sandbox declares. */
import { expect, it } from 'vitest'
import { eventTypes } from '../../src/contract/events.ts'
import { endpoints } from '../../src/sandbox/endpoints/endpoints.ts'
import { OPERATIONS } from './operations.ts'
import { rows } from './rows.ts'
import { openStand } from './stand.ts'
import { bodyOf, keyOf, targetOf } from './targets.ts'

const stand = await openStand()
it('no row stands twice', () => {
  const names = rows.map(({ kind, what }) => `${kind} ${what}`)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

it('has the paths that the sandbox declares, and its events', () => {
  const declared = endpoints.map(({ path }) => path.replace(':id', '{id}'))
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
