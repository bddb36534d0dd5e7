/** Ways to lose or to change stored records behind the back of the program, so that the metrics come out wrong. */
import type { Rng } from '../../src/lib/rng.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

export interface Victim {
  readonly id: string
  readonly reference: string
  readonly kind: string
  readonly statements: readonly string[]
}

interface Kind {
  readonly of: 'timesheet' | 'requisition'
  /** Statements for the record with the id; `days` is drawn. */
  readonly statements: (id: string, days: number) => readonly string[]
}

const sheet = (set: string) => (id: string) => [
  `update star.fact_timesheet set ${set} where timesheet_id = '${id}'`,
]
const root = (set: string) => (id: string) => [
  `update star.fact_requisition set ${set} where requisition_id = '${id}'`,
]

/** The first agency that accepted. */
const partyOf = (id: string): string =>
  `requisition_agency_key = (select min(x.requisition_agency_key) from star.fact_requisition_agency as x
    where x.requisition_id = '${id}' and x.accepted_at is not null)`

const party = (set: string) => (id: string) => [
  `update star.fact_requisition_agency set ${set} where ${partyOf(id)}`,
]

const other = (column: string, table: string, id: string): string =>
  `(select min(x.${column}) from star.${table} as x where x.${column} <> '-1'
    and x.${column} <> (select min(y.${column}) from star.${table} as y where y.${table === 'fact_timesheet' ? 'timesheet_id' : 'requisition_id'} = '${id}'))`

export const kinds: Readonly<Record<string, Kind>> = {
  'timesheet without its own row': {
    of: 'timesheet',
    statements: id => [`delete from star.fact_timesheet where timesheet_id = '${id}'`],
  },
  'timesheet deleted': {
    of: 'timesheet',
    statements: id =>
      ['fact_timelog', 'fact_timesheet'].map(t => `delete from star.${t} where timesheet_id = '${id}'`),
  },
  'timesheet moved': {
    of: 'timesheet',
    statements: (id, days) => sheet(`week_ending_at = week_ending_at + interval '${7 * days} days'`)(id),
  },
  'timesheet moved a second over the edge of its week': {
    of: 'timesheet',
    statements: sheet(`week_ending_at = date_trunc('week', week_ending_at) - interval '1 second'`),
  },
  'timesheet of another status': { of: 'timesheet', statements: sheet(`status = 'pending'`) },
  'timesheet with an hour less': { of: 'timesheet', statements: sheet('net_hours = net_hours - 1') },
  'timesheet of another worker': {
    of: 'timesheet',
    // Of one who worked in another project that week, so that no project's figures differ, but those of the week do.
    statements: id =>
      sheet(`worker_id = (select min(x.worker_id) from star.fact_timesheet as x
        join star.fact_timesheet as y on y.timesheet_id = '${id}' and x.week_ending_at = y.week_ending_at
          and x.worker_id <> y.worker_id where x.status = 'approved')`)(id),
  },
  'timesheet of another project': {
    of: 'timesheet',
    statements: id => sheet(`project_id = ${other('project_id', 'fact_timesheet', id)}`)(id),
  },
  'timesheet of another agency': {
    of: 'timesheet',
    statements: id => sheet(`agency_id = ${other('agency_id', 'fact_timesheet', id)}`)(id),
  },
  'timesheet marked as deleted': {
    of: 'timesheet',
    statements: sheet('is_deleted = true, deleted_at = loaded_at'),
  },
  'timesheet stored twice': {
    of: 'timesheet',
    statements: id => [
      `insert into star.fact_timesheet select * from star.fact_timesheet where timesheet_id = '${id}'`,
    ],
  },
  'requisition deleted': {
    of: 'requisition',
    statements: id =>
      ['fact_requisition_agency', 'fact_requisition'].map(
        t => `delete from star.${t} where requisition_id = '${id}'`,
      ),
  },
  'requisition without its own row': {
    of: 'requisition',
    statements: id => [`delete from star.fact_requisition where requisition_id = '${id}'`],
  },
  'requisition without its agency row': {
    of: 'requisition',
    statements: id => [`delete from star.fact_requisition_agency where ${partyOf(id)}`],
  },
  'requisition with an agency row twice': {
    of: 'requisition',
    statements: id => [
      `insert into star.fact_requisition_agency select * from star.fact_requisition_agency where ${partyOf(id)}`,
    ],
  },
  'acceptance moved': {
    of: 'requisition',
    statements: (id, days) => party(`accepted_at = accepted_at + interval '${days} days'`)(id),
  },
  'acceptance lost': { of: 'requisition', statements: party('accepted_at = null') },
  'acceptance of another agency': {
    of: 'requisition',
    statements: id => party(`agency_id = ${other('agency_id', 'fact_requisition_agency', id)}`)(id),
  },
  'approval moved': {
    of: 'requisition',
    statements: (id, days) => root(`approved_at = approved_at - interval '${days} days'`)(id),
  },
  'approval lost': { of: 'requisition', statements: root('approved_at = null') },
  'approval and acceptance moved': {
    of: 'requisition',
    statements: (id, days) => [
      ...root(`approved_at = approved_at + interval '${days} days'`)(id),
      ...party(`accepted_at = accepted_at + interval '${days} days'`)(id),
    ],
  },
  'requisition of another project': {
    of: 'requisition',
    statements: id => root(`project_id = ${other('project_id', 'fact_requisition', id)}`)(id),
  },
  'requisition marked as deleted': {
    of: 'requisition',
    statements: root('is_deleted = true, deleted_at = loaded_at'),
  },
  'requisition of an unknown status': { of: 'requisition', statements: root(`status = 'closed'`) },
}

/** Columns that follow from others, so that the rows do not contradict each other. */
const consistent = (id: string): string[] => [
  `update star.fact_requisition_agency set
     requisition_approved_at = r.approved_at, project_id = r.project_id, is_deleted = r.is_deleted,
     approved_to_accepted_days = cast(extract(epoch from (accepted_at - r.approved_at)) as double precision) / 86400.0
   from star.fact_requisition as r where r.requisition_id = '${id}' and fact_requisition_agency.requisition_id = r.requisition_id`,
  `update star.fact_requisition set
     agencies_count = p.n, first_accepted_at = p.first_at, last_accepted_at = p.last_at
   from (select count(*) as n, min(x.accepted_at) as first_at, max(x.accepted_at) as last_at
     from star.fact_requisition_agency as x where x.requisition_id = '${id}') as p
   where fact_requisition.requisition_id = '${id}'`,
]

const counted = {
  timesheet: `select timesheet_id as id, reference from star.fact_timesheet
    where status = 'approved' and net_hours > 1 and not is_deleted order by timesheet_id`,
  requisition: `select r.requisition_id as id, r.reference from star.fact_requisition as r
    where r.approved_at is not null and not r.is_deleted and exists (select 1 from star.fact_requisition_agency as p
      where p.requisition_id = r.requisition_id and p.accepted_at is not null) order by r.requisition_id`,
}

/** Tampers with one record that counts and is not among `others`, and says which. */
export async function tamper(
  engine: Engine,
  kind: string,
  { rng, others }: { readonly rng: Rng; readonly others: readonly Victim[] },
): Promise<Victim> {
  const { of, statements } = kinds[kind] as Kind
  const all = await engine.rows<{ id: string; reference: string }>(counted[of])
  const rows = all.filter(({ id }) => !others.some(one => one.id === id))
  const row = rows[Math.floor(rng() * rows.length)]
  if (!row) throw new Error(`the warehouse has no ${of}`)
  const days = 1 + Math.floor(rng() * 40)
  const isConsistent = of === 'requisition' && rng() < 0.5
  const done = [...statements(row.id, days), ...(isConsistent ? consistent(row.id) : [])]
  for (const statement of done) await engine.run(statement)
  return { ...row, kind, statements: done }
}
