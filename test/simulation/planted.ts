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
  'one piece of evidence tombstones': {
    file: 'src/sync/deletions/decision.ts',
    find: '.size < 2',
    put: '.size<1',
  },
  'a scan goes on behind the page after the last one loaded': {
    file: 'src/sync/scan/loaded-scan.ts',
    find: 'loaded_sequence: sequence,',
    put: 'loaded_sequence:sequence+1,',
  },
  'an older version replaces a newer one': {
    file: 'src/load/merge/delta.ts',
    find: "then 'stale' else",
    put: "then 'changed' else",
  },
  'the minute takes one request in four too many': {
    file: 'src/api/budget/minute.ts',
    find: 'this.#starts.length - this.#cap',
    put: 'this.#starts.length-Math.ceil(this.#cap*1.25)',
  },
}
