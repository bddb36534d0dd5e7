/** The SQL that answers the question of a mart where its header has none: its measures by the name that comes first. */
import type { Entity } from './entity.ts'
import { splitOf } from './within.ts'

type Asked = Pick<Entity, 'name' | 'dimensions' | 'metrics' | 'time' | 'keys'>

/** So many measures fit a screen. */
const mostMetrics = 5

/** A name, else a category, that a reader knows a group by. */
const groupOf = ({ dimensions }: Asked): string | undefined =>
  (
    dimensions.find(({ role, name }) => role === 'name' && !name.startsWith('company')) ??
    dimensions.find(({ role }) => role === 'name') ??
    dimensions.find(({ role }) => role === 'category')
  )?.name

/** Only weeks and months that are over, where the mart says so. */
function complete({ dimensions, time }: Asked): string {
  const flag = `is_complete_${time?.grain}`
  return dimensions.some(({ name }) => name === flag) ? `\nwhere ${flag}` : ''
}

function rows(asked: Asked): string {
  const columns = asked.dimensions.filter(({ role }) => role !== 'id').map(({ name }) => name)
  const stamps = new Set(['as_of', 'loaded_at', 'definition_id'])
  const shown = columns.filter(name => !stamps.has(name)).slice(0, 8)
  return `select ${shown.join(', ')}\nfrom mart.${asked.name}\norder by ${asked.keys.join(', ') || '1'}\nlimit 20`
}

export function questionSql(asked: Asked): string {
  const metrics = asked.metrics.filter(({ aggregation }) => aggregation !== 'count').slice(0, mostMetrics)
  const group = groupOf(asked)
  // Over time where the time is part of the key: each row of it is a figure of a week or a month.
  const time = asked.time && asked.keys.includes(asked.time.column) ? asked.time.column : undefined
  const named = [time, group].filter(name => name !== undefined)
  if (metrics.length === 0 || named.length === 0) return rows(asked)
  const by = [...named, ...splitOf(metrics, named)]
  const figures = metrics.map(({ name, sql }) => `  ${sql} as ${name}`)
  const others = by.map((_, place) => place + 1).filter(place => time === undefined || place > 1)
  const first = time === undefined ? `${by.length + 1} desc nulls last` : '1 desc nulls last'
  const order = [first, ...others].join(', ')
  return `select ${by.join(', ')},\n${figures.join(',\n')}\nfrom mart.${asked.name}${complete(asked)}\ngroup by ${by.join(', ')}\norder by ${order}\nlimit 20`
}
