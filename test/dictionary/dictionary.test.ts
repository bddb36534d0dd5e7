/** The dictionary says something of everything, and its page and its Markdown say just that. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildDictionary } from '../../src/dictionary/build.ts'
import { areaDrawing, martDrawing } from '../../src/dictionary/drawings.ts'
import { type ColumnEntry, type Dictionary, qualifiedName } from '../../src/dictionary/entries.ts'
import { dictionaryPage } from '../../src/dictionary/html/page.ts'
import { layOut, type PlacedBox } from '../../src/dictionary/layout.ts'
import { dictionaryMarkdown } from '../../src/dictionary/markdown.ts'
import { isHistory } from '../../src/dictionary/wording.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { physicalTables } from '../../src/warehouse/schema/physical.ts'
import { hostile, withHostileTexts } from './hostile.ts'

let dictionary: Dictionary
let columns: ReadonlyMap<string, ColumnEntry>
let page: string
/** Enough of the dictionary for what is the same for every table: it takes a fiftieth of the time to draw. */
let part: Dictionary

beforeAll(async () => {
  dictionary = await buildDictionary(readMarts())
  columns = new Map(
    dictionary.tables.flatMap(table =>
      table.columns.map((column): [string, ColumnEntry] => [
        `${qualifiedName(table)}.${column.name}`,
        column,
      ]),
    ),
  )
  page = dictionaryPage(dictionary)
  const areas = dictionary.areas.filter(({ resource }) => ['sites', 'timesheets'].includes(resource))
  const names = [
    'star.fact_invoice',
    'pii.worker',
    'mart.worker_week',
    'ops.scan',
    ...areas.flatMap(({ tables }) => tables),
  ]
  const tables = dictionary.tables.filter(table => names.includes(qualifiedName(table)))
  part = { ...dictionary, areas, tables }
})

describe('the dictionary', () => {
  test('has every table that is declared, and a description of each and of every column', () => {
    const names = new Set(dictionary.tables.map(qualifiedName))
    const marts = readMarts().map(({ name }) => `mart.${name}`)
    const declared = [
      ...physicalTables.map(qualifiedName),
      ...marts,
      'star.dim_date',
      'star.dim_week',
      'ops.scan',
    ]
    expect(declared.filter(name => !names.has(name))).toEqual([])
    expect(dictionary.tables.filter(({ description }) => !description.trim()).map(qualifiedName)).toEqual([])
    expect([...columns].filter(([, { description }]) => !description.trim()).map(([name]) => name)).toEqual(
      [],
    )
  })

  test('no text is a key of the service with a word or two around it', () => {
    const cryptic = [...columns].filter(([name, { description }]) => {
      const words = description.replace(/[.,:]/g, '').split(' ')
      return /^(star|pii)\./.test(name) && words.length < 6 && words.some(word => /^[a-z]+[A-Z]/.test(word))
    })
    expect(cryptic.map(([name, { description }]) => `${name}: ${description}`)).toEqual([])
    expect(columns.get('star.fact_timesheet.pay_wd_overtime')?.description).toBe('Pay for weekday overtime.')
  })

  test('every text of star, pii and the marts is complete, and no two columns of a table share one', () => {
    const shown = [...columns].filter(([name]) => /^(star|pii|mart)\./.test(name))
    const textOf = ({ description }: ColumnEntry): string => description.replace(/\.$/, '')
    const short = shown.filter(
      ([, one]) => textOf(one).split(' ').length < 3 && !/^(The|Its) /.test(one.description),
    )
    expect(short.map(([name, { description }]) => `${name}: ${description}`)).toEqual([])
    const asIs = shown.filter(([, one]) => /^\W|[a-z]_[a-z]\w* of the (row|record)/.test(one.description))
    expect(asIs.map(([name, { description }]) => `${name}: ${description}`)).toEqual([])
    const seen = new Map<string, string[]>()
    for (const [name, { description }] of shown) {
      const place = `${name.split('.').slice(0, 2).join('.')}: ${description}`
      seen.set(place, [...(seen.get(place) ?? []), name])
    }
    expect([...seen].filter(([, names]) => names.length > 1)).toEqual([])
  })

  test('a text stands for few columns of different names, but for the positions in lists', () => {
    const names = new Map<string, Set<string>>()
    for (const [name, { description }] of columns)
      if (/^(star|pii|mart)\./.test(name) && !name.endsWith('_ordinal'))
        names.set(description, (names.get(description) ?? new Set()).add(name.split('.')[2] ?? ''))
    expect([...names].filter(([, all]) => all.size > 10).map(([text]) => text)).toEqual([])
  })

  test('leads with the questions that marts answer, their SQL and example rows', () => {
    const example = { columns: ['week', 'agency'], rows: [['2026-01-04', '<b>A</b>']] }
    const text = dictionaryPage(part, undefined, [
      { mart: 'open_demand', question: 'What is open?', sql: 'select 1 < 2', example },
    ])
    expect(text.indexOf('What is open?')).toBeLessThan(text.indexOf('id="diagrams"'))
    expect(text).toContain('<code>select 1 &lt; 2</code>')
    expect(text).toContain('<td>&lt;b&gt;A&lt;/b&gt;</td>')
    expect(page).not.toContain('id="questions"')
  })

  test.each([
    [
      'star.fact_timesheet.net_hours',
      { type: 'numeric(12,4)', unit: 'hours', privacy: 'pseudonymous', fields: ['timesheet.netHours'] },
    ],
    ['star.fact_timesheet.worker_id', { refersTo: { table: 'star.dim_worker', column: 'worker_id' } }],
    ['star.fact_expense.value', { unit: 'currency of the company', privacy: 'pseudonymous' }],
    ['star.fact_expense.expense_date', { made: 'derived', fields: ['expense.date'], type: 'date' }],
    [
      'star.fact_expense.description_length',
      { unit: 'characters', made: 'derived', fields: ['expense.description'] },
    ],
    ['star.fact_timelog_cost_code.hours', { fields: ['timesheet.timelogs[].costCodeAllocations[].hours'] }],
    ['star.fact_invoice.status', { privacy: 'open' }],
    ['star.dim_company.name', { fields: ['company.name'], privacy: 'open' }],
    ['star.dim_company.company_id', { isKey: true }],
    ['star.dim_contact.contact_id', { privacy: 'pseudonymous', made: 'derived' }],
    [
      'star.fact_competency_entry.company_id',
      { made: 'given in the request', refersTo: { table: 'star.dim_company', column: 'company_id' } },
    ],
    ['star.fact_timesheet_rate.pay', { privacy: 'pseudonymous' }],
    ['pii.worker.name', { privacy: 'personal' }],
    ['pii.worker.worker_id', { refersTo: { table: 'star.dim_worker', column: 'worker_id' } }],
    ['pii.expense_receipt.file_url', { privacy: 'restricted' }],
    ['pii.text.text', { privacy: 'free text' }],
    ['ops.quarantine.payload', { privacy: 'internal' }],
    ['ops.scan.last_total', { privacy: 'open', isKey: false }],
    ['ops.scan.scan_id', { isKey: true }],
    ['star.dim_worker.is_deleted', { isOfEveryRow: true }],
    ['history.dim_worker.valid_to', { isOfEveryRow: false, unit: 'UTC' }],
  ])('%s', (name, expected) => expect(columns.get(name)).toMatchObject(expected))

  test('a row of answers belongs to one of several records, so its owner is no reference', () => {
    expect(columns.get('star.fact_submission_answer.entity_id')?.refersTo).toBeUndefined()
  })

  test('every reference leads to a column, and every lineage to a column or a table', () => {
    const tables = new Set(dictionary.tables.map(qualifiedName))
    const targets = [...columns.values()].flatMap(({ refersTo }) =>
      refersTo ? [`${refersTo.table}.${refersTo.column}`] : [],
    )
    expect(targets.filter(name => !columns.has(name))).toEqual([])
    const from = [...columns.values()].flatMap(column => column.from)
    expect(from.filter(name => !columns.has(name) && !tables.has(name))).toEqual([])
  })

  test('marts say from which fields of the service each column comes', () => {
    const week = dictionary.tables.find(table => qualifiedName(table) === 'mart.worker_week')
    expect(week?.resources).toContain('timesheets')
    expect(columns.get('mart.worker_week.net_hours')).toMatchObject({
      unit: 'hours',
      fields: expect.arrayContaining(['timesheet.netHours', 'timesheet.timelogs[].hours.total']),
    })
    const silent = dictionary.tables.filter(
      ({ schema, reads }) => schema === 'mart' && !reads.some(name => /^(star|mart|ops)\./.test(name)),
    )
    expect(silent.map(qualifiedName)).toEqual([])
  })
})

describe('drawings', () => {
  const overlap = (one: PlacedBox, other: PlacedBox): boolean =>
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height

  test('boxes stand apart inside of the picture, and every link leads from one to another', () => {
    const marts = dictionary.tables.filter(({ schema }) => schema === 'mart')
    const drawings = [
      ...dictionary.areas.map(area => areaDrawing(dictionary, area)),
      // A layout takes up to a second: the marts that read most stand for the others.
      ...marts
        .sort((a, b) => b.reads.length - a.reads.length)
        .slice(0, 8)
        .map(mart => martDrawing(dictionary, mart)),
    ]
    for (const drawing of drawings) {
      const { boxes, links, width, height } = layOut(drawing)
      expect(boxes.length).toBe(drawing.columns.flat().length)
      const isOutside = ({ x, y, ...box }: PlacedBox): boolean =>
        x < 0 || y < 0 || x + box.width > width || y + box.height > height
      expect(boxes.filter(isOutside).map(({ id }) => id)).toEqual([])
      const pairs = boxes.flatMap((one, index) => boxes.slice(index + 1).map(other => [one, other] as const))
      const touching = pairs.filter(([one, other]) => overlap(one, other))
      expect(touching.map(([one, other]) => `${one.id} and ${other.id}`)).toEqual([])
      expect(links).toHaveLength(drawing.links.length)
      for (const { x1, x2 } of links) expect(Math.abs(x2 - x1)).toBeGreaterThan(50)
    }
  })

  test('a star has its lists on one side and its dimensions on the other', () => {
    const [left, lists, root, right] = areaDrawing(
      dictionary,
      dictionary.areas.find(({ resource }) => resource === 'timesheets')!,
    ).columns
    expect(root?.map(({ title }) => title)).toEqual(['fact_timesheet'])
    expect(lists?.map(({ title }) => title)).toContain('fact_submission_answer')
    expect(right?.map(({ title }) => title)).toContain('dim_worker')
    expect(left?.map(({ title }) => title)).toContain('dim_cost_code')
  })
})

describe('the page', () => {
  test('makes no request, and allows its own style and script by their hashes only', () => {
    // Attributes only: the words of a description may hold an address.
    expect(page.match(/<(img|link|iframe|object|embed|base|form)\b/g)).toBeNull()
    expect(page.match(/\s(src|style|on\w+)\s*=\s*["']/g)).toBeNull()
    expect(page.match(/\bhref="(?!#)/g)).toBeNull()
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''
    const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? ''
    expect(`${style}${script}`).not.toMatch(/https?:|url\(|@import|fetch\(|innerHTML/)
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'")
    const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect(policy).toBe(
      `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`,
    )
  })

  test('every id is there once, and every link leads to one', () => {
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const known = new Set(ids)
    const links = new Set([...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id))
    expect([...links].filter(id => !known.has(id))).toEqual([])
  })

  test('has every table and every column that is not on every row, with its facts', () => {
    const full = dictionary.tables.filter(table => !isHistory(table))
    const rows = full.flatMap(table => table.columns.filter(({ isOfEveryRow }) => !isOfEveryRow))
    expect(page.match(/ data-column="/g)).toHaveLength(rows.length)
    expect(page.match(/ data-table="/g)).toHaveLength(dictionary.tables.length)
    const row = /<tr id="star\.fact_timesheet\.net_hours"[\s\S]*?<\/tr>/
      .exec(page)?.[0]
      .replaceAll('<wbr>', '')
    for (const part of [
      'numeric(12,4)',
      'hours',
      'R1 pseudonymous',
      'timesheet.netHours',
      'mart.worker_week.net_hours',
    ])
      expect(row).toContain(part)
  })

  test('says rows and freshness of a warehouse, and what is not created yet', () => {
    const stored = {
      engine: 'DuckDB' as const,
      asOf: '2026-11-02T02:30:00.000Z',
      rows: new Map([['star.fact_timesheet', 12_345]]),
      martAsOf: new Map([['mart.worker_week', '2026-11-02T02:30:00.000Z']]),
    }
    const text = dictionaryPage(part, stored)
    expect(text).toContain('as of <strong>2026-11-02 02:30 UTC</strong>')
    expect(/id="star\.fact_timesheet"[\s\S]*?<\/dl>/.exec(text)?.[0]).toContain('12,345')
    expect(/id="mart\.worker_week"[\s\S]*?<\/dl>/.exec(text)?.[0]).toContain('2026-11-02 02:30 UTC')
    expect(/id="star\.fact_invoice"[\s\S]*?<\/dl>/.exec(text)?.[0]).toContain('not created yet')
  })

  test('shows markup in a description as text', () => {
    const text = dictionaryPage(withHostileTexts(part))
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;quoted&quot; &#39;it&#39; &amp;')
    expect(text).not.toContain('<img')
    expect(text).not.toContain('<i>')
    expect(text.match(/<\/script>/g)).toHaveLength(1)
  })
})

describe('the Markdown', () => {
  const cells = (line: string): number => line.replace(/\\\|/g, '').split('|').length

  test('has every table, and rows as wide as their heads, whatever the texts are', () => {
    const text = dictionaryMarkdown(withHostileTexts(dictionary))
    const names = dictionary.tables.map(qualifiedName)
    expect(names.filter(name => !text.includes(`\`${name}\``))).toEqual([])
    let width = 0
    const uneven = text.split('\n').filter(line => {
      const isHead = line.startsWith('| ') && width === 0
      width = line.startsWith('| ') ? width || cells(line) : 0
      return width > 0 && !isHead && cells(line) !== width
    })
    expect(uneven).toEqual([])
    // Between backticks nothing is an element.
    expect(text.replace(/(?<!\\)`[^`\n]*`/g, '')).not.toContain('<img')
    expect(text.split('\n').filter(line => /^# /.test(line))).toEqual(['# Warehouse dictionary'])
    expect(hostile).toContain('\n')
  })

  test('draws in Mermaid what the page draws', () => {
    const text = dictionaryMarkdown(dictionary)
    expect(text).toContain('  fact_timesheet ||--o{ fact_timelog : timesheet_id\n')
    expect(text).toContain('  dim_worker ||--o{ fact_timesheet : worker_id\n')
    expect(text.match(/^```mermaid$/gm)).toHaveLength(dictionary.areas.length)
  })
})
