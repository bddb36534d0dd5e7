/** Writes the dictionary as Markdown: the same tables, with diagrams as Mermaid, which code hosts draw. */
import { counted, formatNumber } from '../lib/counted.ts'
import { busMatrix, type DimensionReach } from './bus-matrix.ts'
import { areaDrawing } from './drawings.ts'
import { type Area, type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from './entries.ts'
import type { TableBox } from './layout.ts'
import type { StoredRows } from './stored.ts'
import {
  currentOf,
  described,
  isHistory,
  madeWords,
  minuteOf,
  privacyMeanings,
  privacyNames,
  schemaMeanings,
  schemaOrder,
} from './wording.ts'

/** Escapes text for a line or a cell: no character can end the cell, begin an element or start emphasis. */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]|#]/g, character => `\\${character}`)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')

const rowsText = (rows: number | undefined): string => (rows === undefined ? '' : formatNumber(rows))

/** Names and paths, which hold no backtick and no bar. */
const code = (text: string): string => `\`${text.replace(/[`|\s]/g, ' ')}\``

/** Columns as wide as their widest cell, as formatters write them. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, index) =>
    Math.max(3, ...[title, ...rows.map(row => row[index] ?? '')].map(cell => cell.length)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const symbols: Readonly<Record<DimensionReach, string>> = { direct: '●', through: '○', none: '' }

const bare = (name: string): string => name.replace(/^star\.(dim_|fact_)?/, '')

function matrixMarkdown(dictionary: Dictionary): string {
  const { dimensions, facts } = busMatrix(dictionary)
  return markdownTable(
    ['fact', ...dimensions.map(bare)],
    facts.map(({ table, reach }) => [bare(table), ...reach.map(one => symbols[one])]),
  )
}

function sourceOf({ fields, from, made }: ColumnEntry): string {
  if (from.length > 0) return from.map(code).join(', ')
  return [...(made ? [madeWords[made]] : []), fields.map(code).join(', ')].filter(Boolean).join(' ')
}

function columnRow(column: ColumnEntry): string[] {
  const { name, type, unit, description, isKey, refersTo, values, privacy, treatment } = column
  const said = values.length > 0 ? ` One of ${values.map(code).join(', ')}.` : ''
  return [
    `${code(name)}${isKey ? ' (key)' : ''}`,
    `${type}${unit === undefined ? '' : `, ${escapeMarkdown(unit)}`}`,
    `${escapeMarkdown(description)}${said}`,
    refersTo ? code(refersTo.table) : '',
    [privacyNames[privacy], treatment].filter(Boolean).join(', '),
    sourceOf(column),
  ]
}

function tableMarkdown(table: TableEntry, stored: StoredRows | undefined): string {
  const name = qualifiedName(table)
  const rows = stored?.rows.get(name)
  const asOf = stored?.martAsOf.get(name)
  const facts = [
    rows !== undefined && counted(rows, 'row'),
    asOf && `as of ${minuteOf(asOf)}`,
    table.question !== undefined && `Answers: ${escapeMarkdown(table.question)}`,
    table.assumption !== undefined && `Assumes: ${escapeMarkdown(table.assumption)}`,
    table.resources.length > 0 && `From ${table.resources.join(', ')}`,
    table.reads.length > 0 && `Reads ${table.reads.map(code).join(', ')}`,
    !table.isPublished && 'Not published',
  ].filter(Boolean)
  const own = table.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  return [
    `### ${code(name)}`,
    escapeMarkdown(table.description),
    ...(facts.length > 0 ? [facts.join(' · ')] : []),
    markdownTable(
      ['column', 'type', 'description', 'refers to', 'privacy', 'comes from'],
      own.map(columnRow),
    ),
  ].join('\n\n')
}

/** Drops the side from the id of a box, as Mermaid places boxes itself. */
const entityOf = (id: string): string => id.replace(/^(left|right) /, '').replace(/^\w+\./, '')

function areaMermaid(dictionary: Dictionary, area: Area): string {
  const { columns, links } = areaDrawing(dictionary, area)
  const boxes = new Map(columns.flat().map((box): [string, TableBox] => [box.id, box]))
  const lines = links.map(({ from, row, to }) => {
    const label = boxes.get(from)?.rows[row ?? 0]?.text ?? ''
    return `  ${entityOf(to)} ||--o{ ${entityOf(from)} : ${label}`
  })
  return ['```mermaid', 'erDiagram', ...new Set(lines), '```'].join('\n')
}

const areaMarkdown = (dictionary: Dictionary, area: Area): string =>
  [
    `### ${area.resource}`,
    `${escapeMarkdown(area.description)} ${code(`GET ${area.path}`)}`,
    areaMermaid(dictionary, area),
  ].join('\n\n')

function lineageMarkdown(mart: TableEntry): string {
  const own = mart.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  const rows = own.map(({ name, from, fields }) => [
    fields.map(code).join(', '),
    from.map(code).join(', '),
    code(name),
  ])
  return [
    `### ${code(qualifiedName(mart))}`,
    markdownTable(['field of the service', 'column that is read', 'column of the mart'], rows),
  ].join('\n\n')
}

function schemaMarkdown(
  { tables }: Dictionary,
  schema: TableEntry['schema'],
  stored: StoredRows | undefined,
): string[] {
  const own = tables.filter(table => table.schema === schema)
  const histories = own.filter(isHistory)
  return [
    `## ${schema}`,
    `${escapeMarkdown(schemaMeanings[schema])} ${counted(own.length, 'table')}.`,
    ...own.filter(table => !isHistory(table)).map(table => tableMarkdown(table, stored)),
    ...(histories.length > 0
      ? [
          'Superseded versions, with the columns of the table named, `valid_from` and `valid_to`:',
          markdownTable(
            ['table', 'columns of', 'rows'],
            histories.map(table => [
              code(qualifiedName(table)),
              code(currentOf(table)),
              rowsText(stored?.rows.get(qualifiedName(table))),
            ]),
          ),
        ]
      : []),
  ]
}

function opening({ version }: Dictionary, stored: StoredRows | undefined): string {
  if (!stored) return `Declared by Muster ${version}; no warehouse was opened.`
  const since = stored.asOf === null ? 'nothing was synced yet' : `as of ${minuteOf(stored.asOf)}`
  return `${stored.engine}, ${since}; declared by Muster ${version}.`
}

export function dictionaryMarkdown(dictionary: Dictionary, stored?: StoredRows): string {
  const privacies = Object.entries(privacyMeanings).map(([privacy, meaning]) => [
    privacyNames[privacy as keyof typeof privacyNames],
    escapeMarkdown(meaning),
  ])
  const parts = [
    '# Warehouse dictionary',
    opening(dictionary, stored),
    '## Privacy',
    markdownTable(['class', 'meaning'], privacies),
    '## Subject areas',
    ...dictionary.areas.map(area => areaMarkdown(dictionary, area)),
    '## Bus matrix',
    '● by a column of its own, ○ through the record that its rows belong to.',
    matrixMarkdown(dictionary),
    '## Lineage',
    ...described(dictionary, 'mart').map(lineageMarkdown),
    ...schemaOrder.flatMap(schema => schemaMarkdown(dictionary, schema, stored)),
  ]
  return `${parts.join('\n\n')}\n`
}
