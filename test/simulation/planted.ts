/** Faults to plant in Muster, each of which the simulation must find: a piece of source, and its replacement. */

export interface PlantedFault {
  readonly file: string
  readonly find: string
  readonly put: string
}

export const plantedFaults: Readonly<Record<string, PlantedFault>> = {
  'a scan with a missing row is accepted': {
    file: 'src/sync/paging/proof.ts',
    find: '>= expectedOf(start, excluded)',
    put: '>= expectedOf(start, excluded) - 1',
  },
  'a record created after the pass start counts for the pass': {
    file: 'src/state/scans/scan-ids.ts',
    find: 'coalesce(existed_at <=',
    put: 'coalesce(true or existed_at <=',
  },
  'the lookback is skipped': {
    file: 'src/sync/scan/collection.ts',
    find: 'before: isSettled ? at + 1 : at - lookbackMs',
    put: 'before: at + 1',
  },
  'quarantine is not written': {
    file: 'src/state/evidence/quarantine.ts',
    find: '  await addRows(engine, rows)',
    put: '  if (rows.length < 0) await addRows(engine, rows)',
  },
  'a changed record counts as unchanged': {
    file: 'src/load/merge/delta.ts',
    find: "s.row_hash = t.row_hash then 'same'",
    put: "s.row_hash is not null then 'same'",
  },
  'rows of the previous version are kept': {
    file: 'src/load/merge/apply.ts',
    find: "and d.state not in ('same', 'stale')",
    put: "and d.state in ('missing')",
  },
  'an event is drained and its change signal is lost': {
    file: 'src/events/drain.ts',
    find: '.filter(({ entity }) => isReadById(entity))',
    put: '.filter(({ entity }) => isReadById(entity) && false)',
  },
  'the minute limit allows a quarter too many requests': {
    file: 'src/api/budget/minute.ts',
    find: 'this.#ended.length - this.#cap',
    put: 'this.#ended.length-Math.ceil(this.#cap*1.25)',
  },
  'no resource is reported as incomplete': {
    file: 'src/state/scans/completeness.ts',
    find: 'from incomplete_resource order by',
    put: 'from incomplete_resource where false order by',
  },
  'hidden rows are not reported': {
    file: 'src/sync/scan/collection-window.ts',
    find: 'hidden_rows: hiddenRows === 0 ? null : hiddenRows',
    put: 'hidden_rows: null',
  },
  'an emptied list is not reported': {
    file: 'src/sync/scan/empty-list.ts',
    find: 'const since = isEmpty ?',
    put: 'const since = isEmpty && false ?',
  },
  'a failed list is reported as refused': {
    file: 'src/sync/run/task.ts',
    find: 'if (error instanceof AccessDenied) return',
    put: 'if (error instanceof AccessDenied || !(error instanceof Incomplete || error instanceof BudgetSpent)) return',
  },
  'an incomplete scan is accepted after the last pass': {
    file: 'src/sync/paging/proof.ts',
    find: "'scan again' : 'refused'",
    put: "'scan again' : 'accepted'",
  },
  'an event is acknowledged but not stored': {
    file: 'src/events/store.ts',
    find: 'await log.append(events)',
    put: 'await log.append(events.slice(1))',
  },
  'old lists inside a changed record are kept': {
    file: 'src/load/merge/apply.ts',
    find: 'const owners = distinctOwners(targetsOf(plan))\n  if (hasHistory)',
    put: 'const owners = distinctOwners(targetsOf(plan)).slice(0, 2)\n  if (hasHistory)',
  },
  'a new process ignores recent requests': {
    file: 'src/sync/run/key-budget.ts',
    find: 'recentRequests: await',
    put: 'recentRequests: 0 * await',
  },
}

/** Faults in commands that only run in a warehouse with all tables: `--wide` finds them. */
export const widePlantedFaults: Readonly<Record<string, PlantedFault>> = {
  'an incomplete copy is published despite --require complete': {
    file: 'src/publish/publish.ts',
    find: 'if (effects.requiresComplete) await',
    put: 'if (effects.requiresComplete && false) await',
  },
}
