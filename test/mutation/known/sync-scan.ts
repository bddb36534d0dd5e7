import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/sync/run/renew-lease.ts',
      before: '    await renewLease(engine, lease)\n    return result',
      after: '    return result',
      test: 'test/sync/run/renew-lease.rules.test.ts',
      harm: 'A process that lost its lease goes on writing.',
    },
  ],
  equivalents: [
    {
      file: 'src/sync/scan/backfill.ts',
      line: 'const isEmpty = task.sync.maxDeletions !== undefined && (await isAllowedEmptyList(task))',
      replacement: 'true',
      reason: 'Without --max-deletions no loss is allowed; it saves a count of the stored records.',
    },
    {
      file: 'src/sync/scan/backfill.ts',
      line: 'if (contradiction !== undefined) contradictions.set(window, contradiction)',
      replacement: 'true',
      reason:
        'A first pass is refused only for a contradiction. A window that is not refused is deleted from the map before anything is read from it.',
    },
    {
      file: 'src/sync/scan/backfill.ts',
      line: "if ((await readScan(engine, window.scan_id))?.state !== 'refused') contradictions.delete(window)",
      replacement: '(await readScan(engine, window.scan_id)).state',
      reason: 'This run has opened the window, and nothing deletes the row of a backfill window.',
    },
    {
      file: 'src/sync/scan/changes-filter.ts',
      line: "const materialization = since === undefined ? 'not materialized' : 'materialized'",
      reason: 'Tells the engine how to run the query; the rows are the same.',
    },
    {
      file: 'src/sync/scan/empty-list.ts',
      line: 'if (!empty && watermark.empty_since === null) return',
      replacement: 'false',
      reason:
        'Then neither the watermark nor the note would change below; it saves counting the stored records at each sync.',
    },
    {
      file: 'src/sync/scan/reread-days.ts',
      line: 'if (stale.length > 0)',
      replacement: 'true',
      reason: 'Without stale scans none is given up; it saves a transaction at each sync.',
    },
    {
      file: 'src/sync/scan/reread-days.ts',
      line: 'if (!(await isAnyUnread(task.sync.engine, task.resource.name))) return',
      replacement: 'false',
      reason: 'Without noted records nothing is read or forgotten; it saves two transactions at each sync.',
    },
  ],
}
