/** Creates views over a mart: one for each grouping if its rows mix several, and those of `sql/mart-view`. */
import { tablesIn } from '../warehouse/catalogue.ts'
import type { Engine } from '../warehouse/engine.ts'
import { sqlFiles } from '../warehouse/sql-files.ts'
import { quoteName, quoteNames, quoteText } from '../warehouse/sql-text.ts'
import { additivityNotes } from './additivity.ts'
import { tableColumns } from './columns.ts'
import { type Mart, type MartColumn, readMart } from './mart.ts'

export interface MartView {
  readonly name: string
  /** First sentence: the grain. */
  readonly description: string
  readonly question: string
  readonly columns: readonly MartColumn[]
  readonly select: string
  /** Columns that name a group; none in a view of everything, or of sql/mart-view. */
  readonly groupKeys: readonly string[]
  /** The file that declares its measures, if not that of the mart. */
  readonly declares?: Mart
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`

/** `group_by all, company, company+month`: the column that names the grouping, and its values; + stands for a comma. */
const groupsLine = /^(\w+) (\w[\w+]*(?:, ?\w[\w+]*)*)$/

/** Whether a column belongs to one of the keys: its name begins with the key's. */
const isOf = (column: string, keys: readonly string[]): boolean =>
  keys.some(key => column.startsWith(`${key}_`))

/** Whether a column ends a period that the grouping does not have. */
const isEndOf = (column: string, keys: readonly string[]): boolean =>
  keys.some(key => [`is_complete_${key}`, `is_settled_${key}`].includes(column))

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

function groupedView(
  mart: Mart,
  by: string,
  group: { keys: readonly string[]; all: readonly string[] },
): MartView {
  const { keys, all } = group
  const others = all.filter(key => !keys.includes(key))
  const notes = additivityNotes(mart, true)
  const own = new Set(mart.columns.map(({ name }) => name))
  const columns = tableColumns(mart)
    .filter(({ name }) => name !== by && name !== 'group_key')
    .filter(({ name }) => !isOf(name, others) && !isEndOf(name, others))
    .map(column => ({
      ...column,
      isKey: column.isKey || (own.has(column.name) && isOf(column.name, keys)),
      description: `${column.description}${notes.get(column.name) ?? ''}`,
    }))
  const groupKeys = columns.filter(({ name }) => own.has(name) && isOf(name, keys)).map(({ name }) => name)
  const value = keys.length === 0 ? 'all' : keys.join(',')
  const rest = mart.columns.filter(({ name, isKey }) => isKey && name !== by && name !== 'group_key')
  const grain = listed([...keys, ...rest.map(({ name }) => name)])
  return {
    name: `${mart.name}_${keys.length === 0 ? 'overall' : `by_${keys.join('_')}`}`,
    description: `${grain === '' ? 'One row' : `One row per ${grain}`}. ${mart.summary}`,
    question: mart.question,
    columns,
    groupKeys,
    select: `select ${quoteNames(columns.map(({ name }) => name))} from mart.${quoteName(mart.name)} where ${quoteName(by)} = ${quoteText(value)}`,
  }
}

/** Throws an Error for a line that cannot be read. */
function groupedViews(mart: Mart): MartView[] {
  const line = mart.fields.get('Groups')
  if (line === undefined) return []
  const [, by, values] = groupsLine.exec(line) ?? []
  if (!by || !values)
    throw new Error(
      `sql/mart/${mart.name}.sql: "${line}" names no groupings: write group_by all, company, company+month`,
    )
  const groupings = values.split(/, ?/).map(value => (value === 'all' ? [] : value.split('+')))
  const all = [...new Set(groupings.flat())]
  return groupings.map(keys => groupedView(mart, by, { keys, all }))
}

let written: readonly Mart[] | undefined

/** Columns with the notes on adding up. */
function notedColumns(view: Mart): MartColumn[] {
  const notes = additivityNotes(view)
  return view.columns.map(one => ({ ...one, description: one.description + (notes.get(one.name) ?? '') }))
}

function writtenViews({ name }: Mart): MartView[] {
  written ??= sqlFiles('mart-view').map(readMart)
  return written
    .filter(({ reads }) => reads.includes(`mart.${name}`))
    .map(view => ({
      name: view.name,
      description: `${sentence(view.grain)} ${view.summary}`,
      question: view.question,
      columns: notedColumns(view),
      groupKeys: [],
      declares: view,
      select: `select ${quoteNames(view.columns.map(one => one.name))} from (\n${view.select}\n) as made`,
    }))
}

export const viewsOf = (mart: Mart): MartView[] => [...groupedViews(mart), ...writtenViews(mart)]

const quotedView = (name: string): string => `mart.${quoteName(name)}`

/** Statements that create the views of a mart and describe them. */
export const viewStatements = (mart: Mart): string[] =>
  viewsOf(mart).flatMap(({ name, description, question, columns, select }) => [
    `create view ${quotedView(name)} as ${select}`,
    `comment on view ${quotedView(name)} is ${quoteText(`${description} Answers: ${question}`)}`,
    ...columns.map(
      column =>
        `comment on column ${quotedView(name)}.${quoteName(column.name)} is ${quoteText(column.description)}`,
    ),
  ])

/** Includes views that the file of the mart no longer declares. */
const isViewOf = (mart: string, declared: readonly string[], name: string): boolean =>
  declared.includes(name) || name.startsWith(`${mart}_by_`) || name === `${mart}_overall`

/** Whether neither the mart's table nor any of its views exists. */
export function isFresh(mart: Mart, existing: ReadonlySet<string>): boolean {
  const views = viewsOf(mart).map(({ name }) => name)
  return ![...existing].some(name => name === mart.name || isViewOf(mart.name, views, name))
}

/** Views that a build has made over a mart. */
export async function madeViews(
  engine: Engine,
  mart: string,
  declared: readonly string[],
): Promise<string[]> {
  const tables = await tablesIn(engine, ['mart'])
  return tables.flatMap(({ name, isView }) => (isView && isViewOf(mart, declared, name) ? name : []))
}

export const dropView = (name: string): string => `drop view if exists ${quotedView(name)}`
