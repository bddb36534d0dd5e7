/** The changes that test/docs/how-to-add.runs.test.ts makes, by the rows of docs/architecture.md. */

/** The text of a new file, or pairs of a text that a file has and what is added behind it. */
export type Edits = Readonly<Record<string, string | readonly (readonly [after: string, added: string])[]>>

interface Addition {
  readonly row: string
  readonly edits: Edits
}

export const additions: readonly Addition[] = [
  {
    row: 'a field of a resource',
    edits: {
      'src/contract/resources/sites.ts': [
        ['import { derived, flag, id,', ' integer,'],
        [
          "is_active: flag('active', 'Whether the site is active.'),",
          "\n    headcount_limit: integer('headcountLimit', 'Most workers on the site at once.'),",
        ],
      ],
      'src/sandbox/data/master/projects.ts': [
        ['email: project.email,', '\n    headcountLimit: 20 * project.siteCount,'],
      ],
    },
  },
  {
    row: 'a resource',
    edits: {
      'src/contract/resources/depots.ts': `/** Depots where a company keeps plant between projects. */
import { flag, id, named, text } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes } from '../fields/shared-columns.ts'
import { dimension } from '../fields/table.ts'

export const depots = resource({
  name: 'depots',
  entity: 'depot',
  description: 'Depots of the companies that the key may read.',
  path: '/depots',
  keys: { agency: 'not at all' },
  read: { strategy: 'scan', createdBetween: {} },
  updatedAt: 'updatedAt',
  table: dimension('depot', 'One row per depot.', {
    depot_id: id('id', 'Id of the depot.'),
    name: text('name', 'Name.'),
    is_active: flag('active', 'Whether the depot is in use.'),
    company_id: named('company', 'company'),
    ...changeTimes,
  }),
})
`,
      'src/contract/catalogue.ts': [
        [
          "import { creditNotes } from './resources/credit-notes.ts'",
          "\nimport { depots } from './resources/depots.ts'",
        ],
        ['  users,', '\n  depots,'],
      ],
      'src/contract/operations.ts': [
        [
          "import { creditNotes } from './resources/credit-notes.ts'",
          "\nimport { depots } from './resources/depots.ts'",
        ],
        [
          "readSite: record('/sites/{id}', sites, {}),",
          `
  /** Depots. \`query\` searches names. Company keys only. */
  listDepots: page('/depots', depots, {
    ...{ ...paging, ...dated, status, company: 'ids' },
    sortBy: ['createdAt', 'updatedAt', 'name'],
  }),`,
        ],
      ],
      'src/sandbox/endpoints/depots.ts': `/** GET /depots. */
import { operations } from '../../contract/operations.ts'
import { depots } from '../../contract/resources/depots.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/schemas.ts'

export const depotList = listEndpoint({
  operation: operations.listDepots,
  keys: 'company',
  scope: 'read:projects',
  summary: 'Depots.',
  returns: recordOf('Depot', depots),
  collection: 'depots',
  within: { company: 'company.id' },
  search: ['name'],
  sort: ['name', 'asc'],
})
`,
      'src/sandbox/endpoints/endpoints.ts': [
        ["} from './companies.ts'", "\nimport { depotList } from './depots.ts'"],
        ['  userList,', '\n  depotList,'],
      ],
      'src/sandbox/data/generate.ts': [
        [
          "import { type BilledInvoice, makeCreditNotes, makeInvoices } from './invoices.ts'",
          "\nimport { makeDepots } from './master/depots.ts'",
        ],
        ['    users,', '\n    depots: makeDepots(seed, companies),'],
      ],
      'src/sandbox/data/master/depots.ts': `/** Depots of companies. */
import { dayMs } from '../../../lib/dates.ts'
import { editedSince, type Seed } from '../draw.ts'
import { refOf } from '../identity.ts'
import type { Company } from './companies.ts'

export function makeDepots(seed: Seed, companies: readonly Company[]) {
  const draw = seed.draw('depots')
  return companies.flatMap(company =>
    draw.times(4, index => {
      const createdMs = seed.firstWeekMs - draw.between(1, 400) * dayMs
      return {
        id: draw.id(createdMs),
        name: \`\${company.name} depot \${index + 1}\`,
        active: index > 0,
        company: refOf(company),
        ...editedSince(seed, draw, createdMs),
      }
    }),
  )
}
`,
    },
  },
  {
    row: 'a mart with a check and a panel',
    edits: {
      'sql/mart/site_hours.sql': `-- Approved hours of each site, over everything that was read.
-- Grain: one row per site with approved timesheets.
-- Question: Which sites take the most hours?
-- Sources: star.fact_timesheet
-- Columns:
--   site_id text key: The site; -1 where a timesheet names none.
--   timesheets integer: Approved timesheets of the site.
--   net_hours numeric(18,4): Net hours of its approved timesheets.
select
  t.site_id,
  count(*) as timesheets,
  sum(t.net_hours) as net_hours
from star.fact_timesheet as t
where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
group by t.site_id
`,
      'sql/check/mart_site_hours_totals.sql': `-- The hours of mart.site_hours are those of all approved timesheets.
-- Severity: error
-- Sources: mart.site_hours, star.fact_timesheet
-- Next: look for a site that the mart has twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.net_hours), 0) as hours from mart.site_hours as x) as m
cross join (select coalesce(sum(t.net_hours), 0) as hours from approved_timesheet as t) as s
where m.hours <> s.hours
`,
      'test/marts/audit/marts/site-hours.ts': `import type { Planted } from '../../planting.ts'
import type { Audit } from '../compare.ts'
import { groupBy, idOf, isWorked, sum } from '../words.ts'

export const siteHours: Audit = {
  mart: 'site_hours',
  rows: ({ live }) =>
    [...groupBy(live.timesheets.filter(isWorked), ({ site }) => idOf(site))].map(([site, own]) => ({
      site_id: site,
      timesheets: own.length,
      net_hours: sum(own, ({ netHours }) => netHours),
    })),
}

export const planted: readonly Planted[] = [
  {
    check: 'mart_site_hours_totals',
    subject: 'mart.site_hours',
    rows: 1,
    statements: [
      \`update mart.site_hours set net_hours = net_hours + 1 where site_id = (select min(site_id) from mart.site_hours)\`,
    ],
  },
]
`,
      'src/dashboard/pages/working-time.ts': [
        [
          "const empty = 'No approved hours here. Widen the filters, or run muster sync and muster build.'",
          `

const sites: Panel = {
  id: 'hours-sites',
  title: 'Sites by hours',
  about: 'Approved net hours, over everything that was read.',
  mart: 'site_hours',
  sql: 'select site_id, net_hours from mart.site_hours where {where} order by net_hours desc limit 20',
  show: { kind: 'bars', label: 'site_id', figures: [hours('net_hours', 'Hours')] },
  empty,
}`,
        ],
        ['panels: [totals,', ' sites,'],
      ],
    },
  },
  {
    row: 'a command',
    edits: {
      'src/cli/commands/me.ts': `/** \`muster me\`: shows the key as the service has it. */

import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import type { CommandModule } from '../command.ts'
import { printJson } from '../terminal/output.ts'

export const command: CommandModule = {
  examples: ['muster me'],
  run: async context => {
    const { client, close } = await openAdHocClient(context.connection(), context)
    try {
      const { record } = await client.getRecord('/me', {}, { purpose: 'operator' })
      printJson(context, record)
      return 0
    } finally {
      await close()
    }
  },
}
`,
      'src/cli/commands.ts': [
        [
          "load: () => import('./commands/doctor.ts'),\n    },",
          `
    me: {
      summary: 'show the key as the service has it',
      purpose: first,
      load: () => import('./commands/me.ts'),
    },`,
        ],
      ],
      'test/cli/me.test.ts': `import { expect, test } from 'vitest'
import { muster } from '../support/captured-world.ts'

test('muster me says what it shows', async () => {
  expect(await muster('me --help')).toMatchObject({ code: 0, out: expect.stringContaining('muster me') })
})
`,
    },
  },
  {
    row: 'a rule of snapshots',
    edits: {
      'src/sync/snapshot/few-refusals.ts': `/** Whether a snapshot with refused scopes still says enough. */

/** At most half of the scopes may be refused. */
export const hasFewRefusals = (refused: number, scopes: number): boolean => 2 * refused <= scopes
`,
      'src/sync/snapshot/snapshot.ts': [
        [
          "import { fenced } from '../run/renew-lease.ts'",
          "\nimport { hasFewRefusals } from './few-refusals.ts'",
        ],
        [
          '  const [first] = lost',
          "\n  if (!hasFewRefusals(refused, scopes.length)) task.counters.note += ': ask for the rights of the key'",
        ],
      ],
      'test/sync/snapshot/few-refusals.rules.test.ts': `import { expect, test } from 'vitest'
import { hasFewRefusals } from '../../../src/sync/snapshot/few-refusals.ts'

test.each([
  [0, 0, true],
  [1, 2, true],
  [2, 3, false],
])('%i refused of %i scopes are few: %s', (refused, scopes, expected) => {
  expect(hasFewRefusals(refused, scopes)).toBe(expected)
})
`,
    },
  },
]
