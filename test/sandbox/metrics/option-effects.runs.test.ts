/** Every option of the recruitment metrics, as a client sees it: an answer without it, and with it. */
import { expect, it } from 'vitest'
import { metricOptions, parseOption } from '../../../src/sandbox/options.ts'
import { pathReader } from '../../../src/sandbox/record.ts'
import { type OpenSandbox, openSandbox } from '../open-sandbox.ts'

const company = { id: 'c1', name: 'One' }
const project = { id: 'p1', name: 'Site' }
const approvedDate = '2026-01-01T00:00:00.000Z'
const afterDays = (days: number) => new Date(Date.parse(approvedDate) + days * 86_400_000).toISOString()
const agencies = [1, 2, 3, 30.25].map((days, index) => ({
  ...{ id: `a${index}`, name: `Agency ${index}`, dateAccepted: afterDays(days) },
}))
const requisitions = [
  {
    id: 'r1',
    reference: 'r1',
    status: 'filled',
    company,
    project,
    approvedDate,
    createdAt: approvedDate,
    agencies,
  },
  {
    ...{ id: 'r2', reference: 'r2', status: 'filled', company, approvedDate, createdAt: approvedDate },
    agencies: [{ id: 'early', name: 'Early', dateAccepted: afterDays(-2) }],
  },
]
const timelogs = [{ hours: { total: 30 } }, { hours: { total: 21 } }]
const sheet = (id: string, day: string, more: object) => ({
  ...{ id, status: 'approved', company, project, agency: agencies[0], worker: { id, name: id } },
  ...{ weekEnding: `${day}T00:00:00.000Z`, ...more },
})
const timesheets = [
  sheet('t1', '2026-02-01', { netHours: 48, timelogs }),
  sheet('t2', '2026-02-02', { netHours: 50, status: 'pending' }),
]

// One worker whose two weeks end on different days of one calendar week.
const other = { project: { id: 'p2', name: 'Yard' }, worker: { id: 'w', name: 'w' }, netHours: 30 }
timesheets.push(sheet('t3', '2026-02-12', other), sheet('t4', '2026-02-13', other))

const fill = 'timeToFill&project=p1'
const early = 'timeToFill&agency=early'
const hours = 'workersOverHours&project=p1'
const cases: [option: string, query: string, path: string, plain: unknown, turned: unknown][] = [
  ['quantiles=type6', fill, 'iqrBounds.upper', 21.90625, 56.71875],
  ['fill-days=floor', `${fill}&agency=a3`, 'values.maxDays', 30.25, 30],
  ['fill-days=ceil', `${fill}&agency=a3`, 'values.maxDays', 30.25, 31],
  ['fill-negative=zero', early, 'values.maxDays', -2, 0],
  ['fill-negative=dropped', early, 'rawCount', 1, undefined],
  ['acceptance=latest', fill, 'rawCount', 4, 1],
  ['outlier-bounds=exclusive', `${fill}&agency=a0`, 'values.count', 1, 0],
  ['outlier-min=5', fill, 'excludedOutliers', 1, 0],
  ['fill-statuses=raised,approved', fill, 'rawCount', 4, undefined],
  ['decimals=1', fill, 'iqrBounds.upper', 21.90625, 21.9],
  ['week-start=sunday', `${hours}&groupBy=week`, 'group.week', '2026-W05', '2026-W06'],
  ['worker-week=calendarWeek', 'workersOverHours&project=p2', 'values.workerWeeks', 2, 1],
  ['week-key=firstDay', `${hours}&groupBy=week`, 'group.week', '2026-W05', '2026-01-26'],
  ['month-key=firstDay', `${hours}&groupBy=month`, 'group.month', '2026-02', '2026-02-01'],
  ['group-ref=name', `${hours}&groupBy=project`, 'group.project', project, 'Site'],
  ['threshold=at', hours, 'values.workersOverThreshold', 0, 1],
  ['hours-statuses=pending', hours, 'values.totalHours', 48, 50],
  ['hours-field=timelogHours', hours, 'values.totalHours', 48, 51],
  ['day-zone=-05:00', `${hours}&groupBy=month`, 'group.month', '2026-02', '2026-01'],
  ['day-zone=-05:00', `${hours}&from=2026-02-01`, 'values.totalHours', 48, undefined],
  ['from=exclusive', `${hours}&from=2026-02-01`, 'values.totalHours', 48, undefined],
  ['to=exclusive', `${hours}&to=2026-02-01`, 'values.totalHours', 48, undefined],
  ['to=midnight', `${fill}&to=2026-01-31&agency=a3`, 'rawCount', 1, undefined],
]

const records = { companies: [company], requisitions, timesheets }
let plainOne: Promise<OpenSandbox> | undefined

async function answered(sandbox: OpenSandbox, query: string, path: string) {
  const { body } = await sandbox.get(`/requisitions/recruitment-metrics?metric=${query}`)
  return pathReader(path)(body.data[0])
}

it.each(cases)('%s: for %s, %s is not %j but %j', async (...given) => {
  const [option, query, path, plain, turned] = given
  plainOne ??= openSandbox({ records })
  expect(await answered(await plainOne, query, path)).toEqual(plain)
  expect(await answered(await openSandbox({ records, options: parseOption(option) }), query, path)).toEqual(
    turned,
  )
})

it('has a case for every option', () => {
  const tried = cases.map(([option]) => option.split('=')[0])
  expect(Object.keys(metricOptions).filter(name => !tried.includes(name))).toEqual([])
})

it('applies the zone to the days of rows, too', async () => {
  const stageTracking = [
    { agency: agencies[0], worker: { id: 'w', name: 'w' }, history: [], stage: 'submitted' },
  ]
  const tracked = { companies: [company], requisitions: [{ ...requisitions[0], stageTracking }] }
  const sandbox = await openSandbox({ records: tracked, options: { 'day-zone': '-05:00' } })
  const { body } = await sandbox.get('/requisitions/recruitment-metrics?to=2025-12-31')
  expect(body.data[0].reqCreated).toBe('31/12/2025')
})
