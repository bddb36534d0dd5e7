/** Whose an undeclared value of a page is: the id beside it decides, at any depth; what an id gives to others stays. */
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import { stepsOf } from '../../src/privacy/leaf-documents.ts'
import { hashesWith, recogniserOf } from '../../src/privacy/recogniser.ts'
import { scrubPage } from '../../src/privacy/record/scrub-page.ts'

const hashes = hashesWith('ab'.repeat(32))
const gone = '64b000000000000000000001'
const other = '64b000000000000000000002'
const person = hashes.person('worker', gone)
const row = {
  person,
  hash_key: hashes.key,
  state: 'begun' as const,
  allows_return: false,
  begun_at: '2026-01-01T00:00:00Z',
  done_at: null,
}
const values = new Map(
  ['ann lee', 'ann@mail.example', '700900123'].map(value => [hashes.value(value), [person]]),
)

function scrubbed(record: object): unknown {
  const recogniser = recogniserOf({ persons: [row], values })
  if (!recogniser) throw new Error('somebody is forgotten')
  const bytes = Buffer.from(JSON.stringify({ data: [{ id: 'T1', worker: { id: other }, ...record }] }))
  const page = { resource: findResource('timesheets'), isById: false }
  const [{ id, worker, ...rest }] = JSON.parse(scrubPage(bytes, recogniser, page).toString()).data
  return record && 'worker' in record ? { worker, ...rest } : rest
}

const stays = Symbol('stays')

test.each<[string, object, object | typeof stays]>([
  ['beside its id', { a: { id: gone, email: 'x' } }, { a: { id: gone, email: 'forgotten' } }],
  ['beside its id in a list', { a: [{ id: gone, x: ['y'] }] }, { a: [{ id: gone, x: ['forgotten'] }] }],
  ['beside an id as worker', { a: { workerId: gone, x: 'y' } }, { a: { workerId: gone, x: 'forgotten' } }],
  ['below its id as a key', { a: { [gone]: { x: 'y' } } }, { a: { [gone]: { x: 'forgotten' } } }],
  [
    'deeper',
    { a: { id: gone, b: { c: [{ d: 'e' }] } } },
    { a: { id: gone, b: { c: [{ d: 'forgotten' }] } } },
  ],
  ['as a number', { a: { id: gone, age: 41 } }, { a: { id: gone, age: null } }],
  [
    'with the same first word',
    { byId: gone, byName: 'x', bypass: 'y' },
    { byId: gone, byName: 'forgotten', bypass: 'y' },
  ],
  [
    'of a person known by address',
    { a: { email: 'Ann@mail.example', x: 'y' } },
    { a: { email: 'forgotten', x: 'forgotten' } },
  ],
  [
    'in a text that is JSON',
    { a: JSON.stringify({ id: gone, x: 'y' }) },
    { a: JSON.stringify({ id: gone, x: 'forgotten' }) },
  ],
  ['as a key', { a: { 'ann@mail.example': 1 } }, { a: { 'forgotten 4': 1 } }],
  ['as a long number', { a: 447700900123 }, { a: null }],
  ['beside the id of another', { a: { id: other, email: 'x@y.example' } }, stays],
  [
    'of a namesake with an id and an address',
    { a: { id: other, email: 'x@y.example', name: 'Ann Lee' } },
    stays,
  ],
  [
    'of another within the object of the person',
    { a: { id: gone, b: { id: other, email: 'x@y.example' } } },
    stays,
  ],
  ['of the record, which an id in it does not own', { owner: gone, note: 'y' }, stays],
  ['a short number that is equal to nothing', { a: { id: 7, x: 'y' } }, stays],
])('a value %s', (_, record, rest) => {
  expect(scrubbed(record)).toEqual(rest === stays ? record : rest)
})

test.each([
  ['a.b[3].c', ['a', 'b', 3, 'c']],
  ['"a.b".c#2', ['a.b', 'c#2']],
  ['config.0].x', ['config', 0, 'x']],
  ['a..b', ['a..b']],
])('the path %s of a leaf has its keys and positions', (path, steps) => {
  expect(stepsOf(path)).toEqual(steps)
})
