import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

/** Whole runs and nights, which `npm run test:runs` runs. */
export const wholeRuns = [
  'test/load/pipeline.test.ts',
  'test/api/reach.test.ts',
  'test/nights/*.test.ts',
  'test/simulation/*.test.ts',
  'test/crosscheck/!(*.rules).test.ts',
  'test/package/installed.test.ts',
  'test/privacy/*.test.ts',
  'test/state/empty-warehouse.test.ts',
  'test/marts/stand-alone.test.ts',
  'test/publish/*.test.ts',
  'test/semantic/{bi-commands,catalogue,mixing,questions}.test.ts',
  'test/postgres/{bi-metadata,foreign-rules,hostile-defaults,replica-identity,roles,row-policies,vanished,vanished-sync}.test.ts',
  'test/dashboard/{pages,work}.test.ts',
  'test/landing/{damage,rights,unpacked}.test.ts',
  'test/cli/{bad-surroundings,build,check,dag-ledger,demo,honest-words,incomplete,interactive-signals,large-inputs,limits,loaded-later,lost-file,mcp,metric,outputs,pairs,pipes-beside,postgres,proxy,publish,reading,recordings,refused-records,serve,signals,slow-reader,sql,sql-prompt,sql-values,status,status-all,stopping}.test.ts',
  'test/sync/{agency,assumptions,backfill,by-id,clocks,collection,emptied-midway,empty-list,faults,gateway-answers,hidden-ends,hollow-pages,kill,live,look-again,lost-access,quiet,refused-ids,refused-scan,replay,requests,scan-cost,scan-model,snapshot-losses,stops,sweep,sweep-model,ties-at-rest,unmarked-change}.test.ts',
  'test/warehouse/{any-json,bad-input,by-id,coverage,export,merge,parity,reporting-zone,rows-once,touches,unloadable}.test.ts',
  'test/contract/contract.test.ts',
  'test/marts/{all-marts,checks-on-server,kept,killed-build}.test.ts',
  'test/marts/audit/{audit-far-zone,worn}.test.ts',
  'test/docs/scheduling.test.ts',
  'test/serve/{event-share,reads}.test.ts',
  'test/telemetry/lineage.test.ts',
  'test/telemetry/notify.test.ts',
]

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts', 'test/{airflow,bucket}/**', ...wholeRuns],
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    // Test files share what they import: loading it anew for each took 72 s of a run, and this way 20 s.
    isolate: false,
    // Tests wait for sockets and servers as much as they compute: two at once take 60 s where one takes 82.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // When all is stopped and removed, and the process still does not end by itself.
    teardownTimeout: 3_000,
  },
})
