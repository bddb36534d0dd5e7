/** Faults of Muster that the simulation must find: a piece of its source, and what stands there instead. */

export interface Planted {
  readonly file: string
  readonly find: string
  readonly put: string
}

export const planted: Readonly<Record<string, Planted>> = {
  'a scan that lacks a row is accepted': {
    file: 'src/sync/paging/proof.ts',
    find: '>= expectedOf(start, excluded)',
    put: '>= expectedOf(start, excluded) - 1',
  },
  'a record that came after the moment counts for it': {
    file: 'src/state/scans/scan-ids.ts',
    find: 'coalesce(existed_at <=',
    put: 'coalesce(true or existed_at <=',
  },
  'the lookback is left out': {
    file: 'src/sync/scan/collection.ts',
    find: 'before: isSettled ? at + 1 : at - lookbackMs',
    put: 'before: at + 1',
  },
  'quarantine is not written': {
    file: 'src/state/evidence/quarantine.ts',
    find: '  await addRows(engine, rows)',
    put: '  if (rows.length < 0) await addRows(engine, rows)',
  },
  'a changed record is taken for the same': {
    file: 'src/load/merge/delta.ts',
    find: "s.row_hash = t.row_hash then 'same'",
    put: "s.row_hash is not null then 'same'",
  },
  'rows of the version before stay': {
    file: 'src/load/merge/apply.ts',
    find: "and d.state not in ('same', 'stale')",
    put: "and d.state in ('missing')",
  },
  'an event is drained, and its signal is lost': {
    file: 'src/events/drain.ts',
    find: '.filter(({ entity }) => isReadById(entity))',
    put: '.filter(({ entity }) => isReadById(entity) && false)',
  },
  'the minute takes one request in four too many': {
    file: 'src/api/budget/minute.ts',
    find: 'this.#ended.length - this.#cap',
    put: 'this.#ended.length-Math.ceil(this.#cap*1.25)',
  },
  'no resource is named as not whole': {
    file: 'src/state/scans/completeness.ts',
    find: 'from incomplete_resource order by',
    put: 'from incomplete_resource where false order by',
  },
  'rows that no page shows are not told': {
    file: 'src/sync/scan/collection-window.ts',
    find: 'hidden_rows: hiddenRows === 0 ? null : hiddenRows',
    put: 'hidden_rows: null',
  },
  'a list that is shown as empty is not told': {
    file: 'src/sync/scan/empty-list.ts',
    find: 'const since = isEmpty ?',
    put: 'const since = isEmpty && false ?',
  },
  'a list that failed is told as one that the key cannot read': {
    file: 'src/sync/run/task.ts',
    find: 'if (error instanceof AccessDenied) return',
    put: 'if (error instanceof AccessDenied || !(error instanceof Incomplete || error instanceof BudgetSpent)) return',
  },
  'a scan that brings nothing more is accepted': {
    file: 'src/sync/paging/proof.ts',
    find: "'scan again' : 'refused'",
    put: "'scan again' : 'accepted'",
  },
  'an event is acknowledged that is not stored': {
    file: 'src/events/store.ts',
    find: 'await log.append(events)',
    put: 'await log.append(events.slice(1))',
  },
  'lists inside a record that changed stay beside the new ones': {
    file: 'src/load/merge/apply.ts',
    find: 'const owners = distinctOwners(targetsOf(plan))\n  if (hasHistory)',
    put: 'const owners = distinctOwners(targetsOf(plan)).slice(0, 2)\n  if (hasHistory)',
  },
  'what was sent before is forgotten when a process begins': {
    file: 'src/sync/run/key-budget.ts',
    find: 'recentRequests: await',
    put: 'recentRequests: 0 * await',
  },
}

/** Only a warehouse of all tables runs the commands that this one concerns: to be looked for with --wide. */
export const widePlanted: Readonly<Record<string, Planted>> = {
  'a copy is published though it must be complete and is not': {
    file: 'src/publish/publish.ts',
    find: 'if (effects.requiresComplete) await',
    put: 'if (effects.requiresComplete && false) await',
  },
}
