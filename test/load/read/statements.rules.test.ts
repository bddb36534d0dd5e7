/** A batch costs only the statements that its content needs: planning one takes longer than reading a page. */
import { expect, test } from 'vitest'
import { id, json, keyOf, ofRoot, ordinal, text } from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { bridge, each, fact } from '../../../src/contract/fields/table.ts'
import { dropStages } from '../../../src/load/read/batch.ts'
import { rulesStage } from '../rules-stage.ts'
import { cask, casks } from './casks.ts'
import { boxes, vessels } from './vessels.ts'

const stage = rulesStage()

const floats = resource({
  ...{ name: 'floats', entity: 'float', description: 'Of the tests.', path: '/', read: { strategy: 'scan' } },
  table: fact('float', 'One row per float.', { float_id: id('id', 'Id.'), name: text('name', 'Name.') }),
})

/** A table that is created or deleted from, or what is read. */
function nameOf(statement: string): string {
  const [, created] = /^create or replace (?:temp )?table (?:stage\.)?(\w+)/.exec(statement) ?? []
  const [, deletedFrom] = /^delete from (?:stage\.)?(\w+)/.exec(statement) ?? []
  const [, lookedInto] = /^select count.* from stage\.(\w+)$/s.exec(statement) ?? []
  if (lookedInto) return `lists of ${lookedInto}`
  return (
    created ??
    (deletedFrom ? `-${deletedFrom}` : statement.startsWith('select distinct path') ? 'values' : statement)
  )
}

const named = async (...[of, records]: readonly [typeof floats, readonly object[]]) =>
  (await stage.stage(of, [stage.pageOf(records)])).statements.map(nameOf).join(' ')

const [plain, marked] = [cask({ spec: null, marks: [] }), cask({ spec: null })]

test.each([
  ['without lists and documents', floats, [{ id: 'a' }], 'stage_0 stage_seen stage_record'],
  [
    'whose lists are empty',
    vessels,
    [{ id: 'a', notes: [], decks: [] }],
    'stage_0 stage_seen lists of stage_0 stage_record',
  ],
  [
    'of which two lists have elements, without lists of their own',
    vessels,
    [{ id: 'a', notes: [{ words: 'x' }], flags: ['y'] }],
    'stage_0 stage_seen lists of stage_0 stage_1 stage_2 stage_record',
  ],
  [
    'whose list has elements with lists of their own',
    vessels,
    [{ id: 'a', decks: [{ name: 'x', cabins: [{ size: 1 }] }] }],
    'stage_0 stage_seen lists of stage_0 stage_5 lists of stage_5 stage_6 stage_record',
  ],
  [
    'whose list has elements with lists of their own, which are empty',
    vessels,
    [{ id: 'a', decks: [{ name: 'x', cabins: [] }] }],
    'stage_0 stage_seen lists of stage_0 stage_5 lists of stage_5 stage_record',
  ],
  [
    'with a document',
    vessels,
    [{ id: 'a', spec: { b: 1 } }],
    'stage_0 stage_seen lists of stage_0 stage_leaf stage_record',
  ],
  ['with an undeclared field', floats, [{ id: 'a', other: 1 }], 'stage_0 stage_seen stage_leaf stage_record'],
  [
    'with values from a list of values',
    casks,
    [plain],
    'stage_0 stage_seen lists of stage_0 stage_record values',
  ],
  [
    'with two versions of a record',
    casks,
    [plain, marked],
    'stage_0 stage_seen lists of stage_0 stage_1 stage_older -stage_0 -stage_1 stage_record values',
  ],
  [
    'of which a record is left out',
    casks,
    [plain, cask({ id: 'b', updatedAt: 'never' })],
    'stage_0 stage_seen -stage_0 lists of stage_0 stage_record values',
  ],
  [
    'of which every record is left out',
    casks,
    [cask({ id: 'b', updatedAt: 'never' })],
    'stage_0 stage_seen -stage_0 stage_record',
  ],
] as const)('a batch %s takes these statements', async (...[, of, records, statements]) => {
  expect(await named(of, records)).toBe(statements)
})

test('a record that one type covers is read straight into it, and any other as JSON first', async () => {
  const read = async (...[of]: readonly [typeof floats]) => {
    const { statements } = await stage.stage(of, [stage.pageOf([{ id: 'a' }])])
    return statements[0]?.includes(' as j') ? 'JSON' : 'its type'
  }
  expect([await read(vessels), await read(boxes)]).toEqual(['its type', 'JSON'])
})

test('lists that are empty cost no statement in a record that is read as JSON either', async () => {
  const { statements } = await stage.stage(boxes, [stage.pageOf([{ id: 'a', lids: [], labels: [] }])])
  expect(statements.map(nameOf).join(' ')).toBe('stage_0 stage_seen lists of stage_0 stage_record')
})

test('elements with few fields are carried with their record, the pages are read again for others', async () => {
  const lists = {
    ...{ notes: [{ words: 'x' }], flags: ['y'], info: { engine: { power: 1 } }, hull: { name: 'z' } },
    ...{ decks: [{ name: 'x', cabins: [{ size: 1 }] }], routes: [{ steps: [{ port: 'p' }] }] },
  }
  const { statements } = await stage.stage(vessels, [stage.pageOf([{ id: 'a', ...lists }])])
  const reading = statements.filter(sql => sql.includes('read_json')).map(nameOf)
  expect(reading).toEqual(['stage_0', 'stage_4', 'stage_5'])
})

test('a record with as many lists as documents is looked into for both', async () => {
  const part = bridge('raft_part', 'One row per part.', {
    raft_part_key: keyOf('raft_id', 'part_ordinal'),
    raft_id: ofRoot('raft_id'),
    part_ordinal: ordinal(),
    name: text('name', 'Name.'),
  })
  const rafts = resource({
    ...{ name: 'rafts', entity: 'raft', description: 'Of the tests.', path: '/', read: { strategy: 'scan' } },
    table: fact('raft', 'One row per raft.', {
      raft_id: id('id', 'Id.'),
      spec: json('spec', 'Document.'),
      parts: each('parts', part),
    }),
  })
  const { filled } = await stage.stage(rafts, [
    stage.pageOf([{ id: 'a', spec: { a: 1 }, parts: [{ name: 'x' }] }]),
  ])
  expect([...filled].sort()).toEqual(['stage.stage_0', 'stage.stage_1', 'stage_leaf'])
})

test('records without lists and leaves are hashed without a join', async () => {
  const { statements } = await stage.stage(floats, [stage.pageOf([{ id: 'a' }])])
  expect(statements.at(-1)).not.toContain('join')
})

test('elements that repeat columns of the row above only are read without a join of the records', async () => {
  const deck = { name: 'x', cabins: [{ size: 1 }] }
  const { statements } = await stage.stage(vessels, [stage.pageOf([{ id: 'a', decks: [deck] }])])
  const joined = statements.filter(sql => sql.includes('join stage.stage_0 r ')).map(nameOf)
  expect(joined).toEqual(['stage_6'])
})

test('the tables of a batch are dropped together', async () => {
  const { plan } = await stage.stage(vessels, [stage.pageOf([{ id: 'a', other: 1 }, { id: 'a' }])])
  await stage.rows(dropStages(plan))
  const left = await stage.rows(`select table_name from duckdb_tables() where table_name like 'stage%'`)
  expect(left).toEqual([])
})
