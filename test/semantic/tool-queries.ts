/** The SQL that BI tools send for the metrics of an entity, from the files that Muster writes for them. */
import { unzipSync } from 'fflate'
import { parse } from 'yaml'
import type { BundleFile, BundleRequest } from '../../src/semantic/bundle.ts'
import { cubeBundle } from '../../src/semantic/cube.ts'
import type { Entity } from '../../src/semantic/entity.ts'
import { metricflowBundle } from '../../src/semantic/metricflow.ts'
import { supersetBundle } from '../../src/semantic/superset.ts'

/** Columns to group by; the year of the time of the entity, if that is one of them. */
export interface Cut {
  readonly columns: readonly string[]
  readonly isByYear: boolean
}

const yearColumn = 'year_of_time'

/** Columns of a cut, in the order in which a cut and its rows are known by. */
const columnsOf = ({ columns, isByYear }: Cut): string[] =>
  [...columns, ...(isByYear ? [yearColumn] : [])].toSorted()

/** Columns that identify a group, under names of their own. */
export const groupNames = ({ columns, isByYear }: Cut): string[] => [
  ...columns.map(name => `group_${name}`),
  ...(isByYear ? [`group_${yearColumn}`] : []),
]

/** Names a cut in the column `cut`. */
export const cutName = (cut: Cut): string =>
  columnsOf(cut)
    .map(name => `${name},`)
    .join('')

interface GroupingSets {
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly by: string
}

/** All cuts in one statement: the rows of each have its name. */
function groupingSets(cuts: readonly Cut[]): GroupingSets {
  const sets = new Set(cuts.map(cut => columnsOf(cut).join(', ')))
  const columns = [...new Set(cuts.flatMap(columnsOf))].toSorted()
  const parts = columns.map(name => `case when grouping(${name}) = 0 then '${name},' else '' end`)
  return {
    names: ['cut', ...columns.map(name => `group_${name}`)],
    shown: [
      `${parts.length === 0 ? "''" : `concat(${parts.join(', ')})`} as cut`,
      ...columns.map(name => `${name} as group_${name}`),
    ],
    by: `group by grouping sets (${[...sets].map(set => `(${set})`).join(', ')})`,
  }
}

/** The rows of an entity, with the year of their time. */
function rowsOf({ name, time }: Entity, cuts: readonly Cut[]): string {
  if (!cuts.some(({ isByYear }) => isByYear)) return `mart.${name}`
  return `(select *, date_trunc('year', cast(${time?.column} as timestamp)) as ${yearColumn} from mart.${name}) as rows_by_year`
}

/** Metrics by their names, each as an expression of SQL. */
export type Expressions = ReadonlyMap<string, string>
/** Statements that together have the groups of every cut. */
export type Tool = (entity: Entity, cuts: readonly Cut[]) => string[]

function grouped(entity: Entity, cuts: readonly Cut[], expressions: Expressions): string[] {
  const { shown, by } = groupingSets(cuts)
  const figures = [...expressions].map(([name, sql]) => `${sql} as "${name}"`)
  return [`select ${[...shown, ...figures].join(', ')} from ${rowsOf(entity, cuts)} ${by}`]
}

// biome-ignore lint/suspicious/noExplicitAny: trees of several tools
type Tree = any

const textOf = (files: readonly BundleFile[], path: string): string =>
  String(files.find(file => file.path === path)?.content)

/** Datasets of Superset: the expression of each metric. */
export function supersetTool(request: BundleRequest): Tool {
  const zip = supersetBundle(request).find(({ path }) => path === 'muster-datasets.zip')
  const trees = Object.entries(unzipSync(zip?.content as Uint8Array)).map(
    ([path, bytes]) => [path, parse(Buffer.from(bytes).toString()) as Tree] as const,
  )
  const byTable = new Map(trees.flatMap(([, tree]) => (tree.table_name ? [[tree.table_name, tree]] : [])))
  return (entity, cuts) => {
    const metrics: Tree[] = byTable.get(entity.name)?.metrics ?? []
    return grouped(entity, cuts, new Map(metrics.map(one => [one.metric_name, one.expression])))
  }
}

function cubeSql({ type, sql = '' }: { type: string; sql?: string }): string {
  const own = sql.replaceAll('{CUBE}.', '')
  if (type === 'count') return 'count(*)'
  if (type === 'count_distinct') return `count(distinct ${own})`
  return type === 'number' ? own : `${type}(${own})`
}

/** A cube: the type of a measure decides how Cube aggregates its expression. */
export function cubeTool(request: BundleRequest): Tool {
  const files = cubeBundle(request)
  const cubes = new Map(
    request.entities.map(({ name }) => [
      name,
      parse(textOf(files, `model/cubes/${name}.yml`)).cubes[0] as Tree,
    ]),
  )
  return (entity, cuts) => {
    const measures: Tree[] = cubes.get(entity.name).measures
    return grouped(entity, cuts, new Map(measures.map(one => [one.name, cubeSql(one)])))
  }
}

interface Metric {
  readonly type: string
  readonly type_params: Tree
}

/** Puts expressions in the place of names. */
const withParts = (expr: string, parts: ReadonlyMap<string, string>): string =>
  expr.replaceAll(/[a-z]\w*/g, name => (parts.has(name) ? `(${parts.get(name)})` : name))

class SemanticLayer {
  readonly #metrics: ReadonlyMap<string, Metric>
  readonly #models: ReadonlyMap<string, Tree>

  constructor(files: readonly BundleFile[]) {
    const { metrics } = parse(textOf(files, 'models/muster/metrics.yml'))
    const { semantic_models: models } = parse(textOf(files, 'models/muster/semantic_models.yml'))
    this.#metrics = new Map(metrics.map((one: Tree) => [one.name, one]))
    this.#models = new Map(models.map((one: Tree) => [one.name, one]))
  }

  /** A metric over the measures of its model, which are columns of the same names. */
  #expression(name: string): string {
    const metric = this.#metrics.get(name)
    if (metric === undefined) throw new Error(`no metric ${name}`)
    const { type, type_params: params } = metric
    if (type === 'simple') return `"${params.measure}"`
    if (type === 'ratio') {
      const [above, below] = [this.#expression(params.numerator), this.#expression(params.denominator)]
      return `cast(${above} as double precision) / nullif(cast(${below} as double precision), 0)`
    }
    const parts = params.metrics.map((one: Tree) => [one.alias ?? one.name, this.#expression(one.name)])
    return withParts(params.expr, new Map(parts))
  }

  /** MetricFlow aggregates a stock over the rows of the first or last time of what the query groups by time. */
  queries(entity: Entity, cuts: readonly Cut[]): string[] {
    const model = this.#models.get(`muster_${entity.name}`)
    if (model === undefined) return []
    const time = model.defaults.agg_time_dimension
    const spanOf = (cut: Cut): string =>
      columnsOf(cut)
        .filter(name => name === time || name === yearColumn)
        .join(', ')
    return [...new Set(cuts.map(spanOf))].map(span =>
      this.#query(entity, model, { span, cuts: cuts.filter(cut => spanOf(cut) === span) }),
    )
  }

  #query(entity: Entity, model: Tree, { span, cuts }: { span: string; cuts: readonly Cut[] }): string {
    const { names, shown, by } = groupingSets(cuts)
    const time = model.defaults.agg_time_dimension
    const from = rowsOf(entity, cuts)
    const measuresIn = (window: string | undefined): Tree[] =>
      model.measures.filter((one: Tree) => one.non_additive_dimension?.window_choice === window)
    const part = (window: string | undefined): string => {
      const figures = measuresIn(window).map(
        ({ agg, expr, name }: Tree) => `${aggregate(agg, expr)} as "${name}"`,
      )
      const over = span === '' ? '' : `partition by ${span}`
      const rows =
        window === undefined
          ? from
          : `(select * from (select *, ${window}(${time}) over (${over}) as at_time from ${from}) as w where ${time} = at_time) as rows_of_time`
      return `select ${[...shown, ...figures, 'count(*) as rows_of_group'].join(', ')} from ${rows} ${by}`
    }
    const joined = (['min', 'max'] as const)
      .filter(window => measuresIn(window).length > 0)
      .map(window => {
        const same = names.map(name => `at_${window}.${name} is not distinct from total.${name}`)
        return ` left join (${part(window)}) as at_${window} on ${same.join(' and ')}`
      })
    const figures = entity.metrics.map(
      ({ name }) => `${this.#expression(`${entity.name}_${name}`)} as "${name}"`,
    )
    const totals = names.map(name => `total.${name}`)
    return `select ${[...totals, ...figures].join(', ')} from (${part(undefined)}) as total${joined.join('')}`
  }
}

function aggregate(agg: string, expr: string): string {
  if (agg === 'count_distinct') return `count(distinct ${expr})`
  return agg === 'average' ? `avg(${expr})` : `${agg}(${expr})`
}

export function metricflowTool(request: BundleRequest): Tool {
  const layer = new SemanticLayer(metricflowBundle(request))
  return (entity, cuts) => layer.queries(entity, cuts)
}
