/** Faults of Muster that the simulation must find: a piece of its source, and what stands there instead. */

export interface Planted {
  readonly file: string
  readonly find: string
  readonly put: string
}

export const planted: Readonly<Record<string, Planted>> = {
  'a scan that lacks rows is accepted': {
    file: 'src/sync/scan/proof.ts',
    find: 'if (isProved(figures)) return',
    put: 'if (figures) return',
  },
  'the lookback is left out': {
    file: 'src/sync/scan/lookback.ts',
    find: '{ before: at - lookbackMs }',
    put: '{ before: at, at: watermark }',
  },
  'quarantine is not written': {
    file: 'src/state/evidence/quarantine.ts',
    find: 'if (hasTable) await',
    put: 'if (hasTable && false) await',
  },
  'the watermark moves though the pass proves nothing': {
    file: 'src/sync/scan/loaded-scan.ts',
    find: "decision === 'accepted') await accepted",
    put: 'decision!==void 0) await accepted',
  },
  'a changed record is taken for the same': {
    file: 'src/load/merge/delta.ts',
    find: "s.row_hash = t.row_hash then 'same'",
    put: "s.row_hash is not null then 'same'",
  },
  'rows of the version before stay': {
    file: 'src/load/merge/apply.ts',
    find: "d.state in ('changed', 'inferred', 'missing')",
    put: "d.state in ('missing')",
  },
  'the minute takes one request in four too many': {
    file: 'src/api/budget/minute.ts',
    find: 'this.#starts.length - this.#cap',
    put: 'this.#starts.length-Math.ceil(this.#cap*1.25)',
  },
}
