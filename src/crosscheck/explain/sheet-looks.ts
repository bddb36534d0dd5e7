/** Which lists of timesheets to read so that every differing cell is in one of them, for the fewest requests. */
import { utcDay } from '../../lib/dates.ts'
import type { Keys, Names } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import type { DifferingCell } from './finding.ts'
import type { StoredRecords } from './stored-records.ts'
import type { Look } from './stored-sheets.ts'

const rowsPerPage = 200

/** Days more on either side: what a day and a range are may itself be unclear. */
const slackDays = 3

const firstDay = '1970-01-01'
const lastDay = '2100-01-01'

function daysOf({ week, month }: Keys, { from, to }: MetricRange): Pick<Look, 'from' | 'to'> {
  if (week !== undefined) return { from: utcDay(week, -slackDays), to: utcDay(week, 7 + slackDays) }
  if (month !== undefined)
    return { from: utcDay(`${month}-01`, -slackDays), to: utcDay(`${month}-01`, 31 + slackDays) }
  return {
    from: from === undefined ? firstDay : utcDay(from, -slackDays),
    to: to === undefined ? lastDay : utcDay(to, slackDays),
  }
}

/** Only ids that are known can be filters. */
function placeOf(keys: Keys, names: Names): Omit<Look, 'from' | 'to'> {
  const known = (['company', 'project', 'agency'] as const).flatMap(key => {
    const id = keys[key]
    return id !== undefined && names[key].has(id) ? [[key, id]] : []
  })
  return Object.fromEntries(known)
}

export const lookAt = (keys: Keys, range: MetricRange, names: Names): Look => ({
  ...placeOf(keys, names),
  ...daysOf(keys, range),
})

/** One look that contains others; those of one project keep the project. */
function around(looks: readonly Look[]): Look {
  const projects = new Set(looks.map(({ project }) => project))
  const [project] = projects.size === 1 ? projects : [undefined]
  const days = (key: 'from' | 'to'): string[] => looks.map(look => look[key]).sort()
  return {
    ...(project !== undefined && { project }),
    from: days('from')[0] ?? firstDay,
    to: days('to').at(-1) ?? lastDay,
  }
}

/** Each cell by itself, or each project as a whole, or everything at once. */
export async function cheapestLooks(
  stored: Pick<StoredRecords, 'countSheets'>,
  cells: readonly DifferingCell[],
  lookOf: (keys: Keys) => Look,
): Promise<readonly Look[]> {
  const each = cells.map(({ keys }) => lookOf(keys))
  if (each.length <= 1) return each
  const pages = async (looks: readonly Look[]): Promise<number> => {
    let sum = 0
    for (const look of looks) sum += Math.max(1, Math.ceil((await stored.countSheets(look)) / rowsPerPage))
    return sum
  }
  const byProject = [...new Set(each.map(({ project }) => project))].map(project =>
    around(each.filter(look => look.project === project)),
  )
  const ways = [[around(each)], byProject, each]
  let best: { looks: readonly Look[]; cost: number } = { looks: [], cost: Infinity }
  for (const looks of ways) {
    // A look costs a request at least: a way with as many looks as the best one costs cannot be cheaper.
    if (looks.length >= best.cost) continue
    const cost = await pages(looks)
    if (cost < best.cost) best = { looks, cost }
  }
  return best.looks
}
