/** The files that compute marts on Spark: statements with a runner for spark-submit, and the same as a dbt project. */
import { readFileSync } from 'node:fs'
import type { DayRule } from '../lib/day-rule.ts'
import { packageFile } from '../lib/package.ts'
import { withSources } from '../marts/mart.ts'
import { relationName } from '../marts/spark/dialect.ts'
import type { SparkInput, SparkMart, SparkMarts } from '../marts/spark/statements.ts'
import { type BundleFile, yamlText } from './bundle.ts'

/** In the first lines of each file; the program recognizes its files by it. */
export const marker = 'written by muster marts'

const note = `${marker}: changes by hand are lost`

const textFile = (path: string, comment: string, text: string): BundleFile => ({
  path,
  content: `${comment} ${note}\n${text}\n`,
})

const yamlFile = (path: string, tree: unknown): BundleFile => ({
  path,
  content: `# ${note}\n${yamlText(tree)}`,
})

/** What the settings of a connection decide. */
export interface SparkConnection {
  readonly name: string
  readonly days: DayRule
  /** The month, 1 to 12, in which the fiscal year begins. */
  readonly fiscalMonth: number
}

const inputsOf = ({ days, fiscalMonth }: SparkConnection) => ({
  zone: days.zone,
  first_day: days.firstDay,
  last_day: days.lastDay,
  fiscal_month: fiscalMonth,
})

const packaged = (path: string): string => readFileSync(packageFile(`assets/spark/${path}`), 'utf8').trimEnd()

/** Tables of the lake that the marts read, without marts that are computed before. */
function lakeTables({ marts }: SparkMarts): string[] {
  const own = new Set(marts.map(({ mart }) => `mart.${mart.name}`))
  const read = ['mart.data_health', ...marts.flatMap(({ reads }) => reads)]
  return [...new Set(read)].filter(name => !own.has(name)).sort()
}

/** What the runner does with a mart, by its name. */
function stepsOf({ marts }: SparkMarts) {
  const all = marts.map(({ mart }) => mart)
  const read = new Set(marts.flatMap(({ reads }) => reads))
  return Object.fromEntries(
    marts.map(({ mart: { name }, reads }) => [
      name,
      {
        reads,
        /** It, and what must be computed before it. */
        needs: withSources(all, [name]).map(one => one.name),
        isRead: read.has(`mart.${name}`),
      },
    ]),
  )
}

/** The runner decides nothing that is known before it reads the lake. */
const planOf = (made: SparkMarts, connections: readonly SparkConnection[]): string =>
  JSON.stringify(
    {
      note,
      connections: Object.fromEntries(connections.map(one => [one.name, inputsOf(one)])),
      lake: lakeTables(made),
      /** Each after those it reads. */
      marts: stepsOf(made),
    },
    null,
    2,
  )

const boundInRunner = (name: SparkInput): string => `:${name}`

/** `as_of` and `today` are set once in a model. */
const boundInDbt = (name: SparkInput): string =>
  name === 'as_of' || name === 'today' ? `'{{ ${name} }}'` : `'{{ var("${name}") }}'`

/** A model of one connection: tables of the lake and other models, as table expressions without other connections. */
function modelOf({ mart, reads, select }: SparkMart, own: ReadonlySet<string>): BundleFile {
  const relation = (table: string): string => {
    const [schema, name] = table.split('.')
    return own.has(table) ? `ref("${name}")` : `source("${schema}", "${name}")`
  }
  const expressions = reads.map(
    table =>
      `${relationName(table)} as (select * from {{ ${relation(table)} }} where connection = '{{ var("connection") }}')`,
  )
  // A minus before the first would join it to the comment above it.
  const text = `{% set as_of = muster_as_of() -%}
{%- set today = muster_today() -%}
with ${expressions.join(',\n')}
select '{{ var("connection") }}' as connection, made.* from (
${select(boundInDbt)}
) as made`
  return textFile(`dbt/models/${mart.name}.sql`, '--', text)
}

function dbtFiles(made: SparkMarts, connections: readonly SparkConnection[]): BundleFile[] {
  const own = new Set(made.marts.map(({ mart }) => `mart.${mart.name}`))
  const tables = lakeTables(made).map(table => table.split('.'))
  const sources = [...new Set(tables.map(([schema]) => schema))].map(schema => ({
    name: schema,
    schema: `{{ var("lake_${schema}", "${schema}") }}`,
    tables: tables.filter(([one]) => one === schema).map(([, name]) => ({ name })),
  }))
  const described = made.marts.map(({ mart, columns }) => ({
    name: mart.name,
    description: mart.summary,
    columns: columns.map(({ name, description }) => ({ name, description })),
  }))
  return [
    ...made.marts.map(one => modelOf(one, own)),
    textFile('dbt/dbt_project.yml', '#', packaged('dbt_project.yml')),
    textFile('dbt/macros/muster.sql', '--', packaged('macros.sql')),
    yamlFile('dbt/models/sources.yml', { version: 2, sources }),
    yamlFile('dbt/models/marts.yml', { version: 2, models: described }),
    ...connections.map(one =>
      yamlFile(`dbt/connections/${one.name}.yml`, { connection: one.name, ...inputsOf(one) }),
    ),
  ]
}

export function sparkFiles(made: SparkMarts, connections: readonly SparkConnection[]): BundleFile[] {
  return [
    textFile('run.py', '#', packaged('run.py')),
    { path: 'marts.json', content: `${planOf(made, connections)}\n` },
    ...made.marts.map(({ mart, select }) => textFile(`sql/${mart.name}.sql`, '--', select(boundInRunner))),
    ...dbtFiles(made, connections),
  ]
}
