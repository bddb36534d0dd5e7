/** Which statements a batch needs for the members that it names: in most batches none. */
import { beforeEach, describe, expect, test } from 'vitest'
import { id, named, ref } from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { fact } from '../../../src/contract/fields/table.ts'
import { arrivalsOf } from '../../../src/load/merge/apply.ts'
import { createDelta } from '../../../src/load/merge/delta.ts'
import { type ChangedDimension, type Members, membersOf } from '../../../src/load/merge/inferred-members.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { gauges } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()
const plan = stagePlan(gauges)
const every = new Set(plan.tables.map(({ name }) => name))

const statements = (changed: Pick<ChangedDimension, 'has_new' | 'has_inferred'>, dimension: string) =>
  (membersOf(plan, every) as Members)
    .statements({ dimension, has_changes: true, ...changed })
    .map(sql => /^(?:update|insert into) \S+/.exec(sql)?.[0].replaceAll('"', ''))

describe('the statements of a dimension', () => {
  const [isNew, isInferred, areBoth] = [
    { has_new: true, has_inferred: false },
    { has_new: false, has_inferred: true },
    { has_new: true, has_inferred: true },
  ]

  test('insert what is new, update what is inferred, and always add names to the PII table, which may come later', () => {
    expect(statements(isNew, 'worker')).toEqual(['insert into pii.worker', 'insert into star.dim_worker'])
    expect(statements(isInferred, 'worker')).toEqual([
      'update pii.worker',
      'insert into pii.worker',
      'update star.dim_worker',
    ])
    expect(statements(areBoth, 'worker')).toEqual([
      ...[
        'update pii.worker',
        'insert into pii.worker',
        'update star.dim_worker',
        'insert into star.dim_worker',
      ],
    ])
  })

  test('leave out a table of which references know nothing', () => {
    expect(statements(areBoth, 'site')).toEqual(['update star.dim_site', 'insert into star.dim_site'])
    expect(statements(areBoth, 'user')).toEqual([
      'update pii.user',
      'insert into pii.user',
      'insert into star.dim_user',
    ])
    expect(statements(areBoth, 'other')).toEqual([])
  })
})

const time = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T09:00:00.000Z`
let count = 0
function naming(day: number | undefined, parts: object) {
  count += 1
  return { id: `g${count}`, version: 1, ...(day !== undefined && { updatedAt: time(day) }), ...parts }
}

/** The dimensions that a batch may change. */
async function changed(...records: readonly object[]) {
  const { filled } = await warehouse.stage(gauges, [warehouse.pageOf(records)])
  const counts = await createDelta(warehouse.engine, gauges, { records: warehouse.engine.send([]) })
  const { members } = await arrivalsOf(warehouse.engine, plan, { counts, filled })
  await warehouse.engine.run((members as Members).table.make as string)
  const rows = await warehouse.engine.rows<ChangedDimension>((members as Members).changed)
  return rows.map(({ dimension, has_new: isNew, has_inferred: isInferred, has_changes: isChanged }) =>
    [dimension, isNew && 'new', isInferred && 'inferred', !isChanged && 'touched'].filter(Boolean).join(' '),
  )
}

describe('a dimension is changed', () => {
  const put = (table: string, parts: Readonly<Record<string, string | boolean | null>>) =>
    warehouse.engine.run(
      `insert into ${table} (${Object.keys(parts).join(', ')}) values (${Object.values(parts)
        .map(value => (typeof value === 'string' ? `'${value}'` : `${value}`))
        .join(', ')})`,
    )
  beforeEach(() =>
    warehouse.engine.run('delete from star.dim_tag; delete from star.dim_worker; delete from pii.worker'),
  )
  const tag = (parts: object = {}) => ({ tag: { id: 't', name: 'a', ...parts } })
  const stored = (parts: Readonly<Record<string, string | boolean | null>> = {}) =>
    put('star.dim_tag', {
      ...{ tag_id: 't', name: 'a', is_inferred: true, source_updated_at: time(4), loaded_at: time(4) },
      ...parts,
    })

  test('by a member that has no row, and by nothing else in a batch of known ones', async () => {
    await stored()
    expect(await changed(naming(3, tag()))).toEqual([])
    expect(await changed(naming(3, tag({ id: 'new' })))).toEqual(['tag new'])
    expect(
      await changed(naming(3, tag({ id: 'new' })), naming(5, tag()), naming(3, { site: { id: 's' } })),
    ).toEqual(['site new', 'tag new inferred'])
  })

  test.each([
    ['an older reference', {}, [3, {}], []],
    ['one of the same time', {}, [4, {}], ['tag inferred touched']],
    ['a newer one', {}, [5, {}], ['tag inferred touched']],
    ['a newer one with another name', {}, [5, { name: 'b' }], ['tag inferred']],
    ['a newer one without attributes', {}, [5, { name: undefined }], []],
    ['an older one that fills a gap', {}, [3, { description: 'x' }], ['tag inferred']],
    ['any time where none is stored', { source_updated_at: null }, [1, {}], ['tag inferred touched']],
    ['one without a time', {}, [undefined, {}], ['tag inferred touched']],
    ['one without a time and attributes', {}, [undefined, { name: undefined }], []],
    ['a newer one of a member that was read itself', { is_inferred: false }, [5, { description: 'x' }], []],
  ] as const)('by %s: %#', async (...[, kept, [day, parts], expected]) => {
    await stored(kept)
    expect(await changed(naming(day, tag(parts)))).toEqual(expected)
  })

  test.each([
    ['a name that is not stored', {}, 3, ['worker inferred']],
    ['an older name', { name: 'Ann' }, 3, []],
    ['a newer name', { name: 'Ann' }, 5, ['worker inferred']],
  ] as const)('by %s: %#', async (...[, closed, day, expected]) => {
    await put('star.dim_worker', {
      worker_id: 'w',
      is_inferred: true,
      worker_reference: 'r',
      source_updated_at: time(9),
    })
    if ('name' in closed) await put('pii.worker', { worker_id: 'w', source_updated_at: time(4), ...closed })
    expect(await changed(naming(day, { worker: { id: 'w', name: 'Bob' } }))).toEqual(expected)
  })
})

test('a server receives the members with the types of the stage', async () => {
  await changed(naming(3, { tag: { id: 'typed' } }))
  const described = (await warehouse.rows('describe member')).map(
    ({ column_name: column, column_type: type }) => [
      String(column),
      String(type)
        .toLowerCase()
        .replace('varchar', () => 'text')
        .replace('timestamp with time zone', () => 'timestamptz'),
    ],
  )
  const { table } = membersOf(plan, every) as Members
  expect(table.columns.map(({ name, sql }) => [name, sql]).sort()).toEqual(described.sort())
  expect([table.name, table.joinedBy]).toEqual(['member', 'member_id'])
})

describe('members of a batch', () => {
  test('are not generated where no filled stage refers to a member', () => {
    expect(membersOf(plan, new Set())).toBeUndefined()
    expect(membersOf(plan, new Set(['stage.stage_2']))).toBeUndefined()
    expect(membersOf(plan, new Set(['stage.stage_1']))?.changed).not.toContain('dim_site')
  })

  const about = { description: '', path: '/', read: { strategy: 'byId' } } as const

  test('are of a dimension that exists', () => {
    const odd = resource({
      ...about,
      name: 'odds',
      entity: 'odd',
      table: fact('odd', '', { odd_id: id('id', ''), x: named('x', 'nothing') }),
    })
    expect(() => membersOf(stagePlan(odd), new Set(['stage.stage_0']))).toThrow(
      'odds refers to nothing, which is no dimension',
    )
  })

  test('take the attributes of all references to their dimension, in its order', () => {
    const two = resource({
      ...{ ...about, name: 'twos', entity: 'two' },
      table: fact('two', '', {
        two_id: id('id', ''),
        first: ref('a.id', 'tag', { description: 'a.description' }),
        second: ref('b.id', 'tag', { name: 'b.name' }),
      }),
    })
    const members = membersOf(stagePlan(two), new Set(['stage.stage_0'])) as Members
    expect(members.table.columns.map(({ name }) => name)).toEqual([
      ...[
        'dimension',
        'member_id',
        'name',
        'description',
        'pii_source_updated_at',
        'star_source_updated_at',
        'loaded_at',
        'run_id',
      ],
    ])
  })
})
