/** What is older than the settings keep it goes, class by class; what is younger, or not settled, stays. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLanding } from '../../src/landing/folder.ts'
import { applyRetention } from '../../src/privacy/retention.ts'
import { ledger } from '../../src/state/ledger.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'

const now = Date.parse('2026-11-22T00:00:00.000Z')
const [old, young] = ['2026-01-01T00:00:00.000Z', '2026-11-20T00:00:00.000Z']

describeOnEngines(
  'retention',
  bench => {
    test('removes what is too old', async () => {
      const { engine, landing } = await bench.warehouse()
      for (const [id, at] of [
        ['a', old],
        ['b', young],
      ] as const) {
        const scan = join(landing, `${id}.archive`)
        mkdirSync(scan, { recursive: true })
        writeFileSync(join(scan, 'scan.json'), '{}')
        utimesSync(scan, new Date(at), new Date(at))
        await engine.run(
          `insert into pii.worker_history (worker_id, name, valid_to) values ($1, 'Ada', $2)`,
          [id, at],
        )
        const common = {
          resource: 'users',
          path: 'x',
          reason: 'no number',
          payload: '{}',
          page: 'p',
          run_id: 'r',
        }
        for (const [end, resolved_at] of [
          ['resolved', at],
          ['open', null],
        ] as const)
          await ledger(engine)
            .insertInto('ops.quarantine')
            .values({
              ...common,
              quarantine_id: `${id} ${end}`,
              record_id: id,
              text: null,
              seen_at: at,
              resolved_at,
            })
            .execute()
      }
      const place = { engine, landing: await openLanding(landing), now }
      const removed = await applyRetention(place, { landing: 90, piiHistory: 90, inbox: 90, quarantine: 90 })
      expect(removed).toEqual({ landing: 1, piiHistory: 1, inbox: 0, quarantine: 1 })
      expect(readdirSync(landing).filter(name => name.endsWith('.archive'))).toEqual(['b.archive'])
      expect(await engine.rows('select worker_id from pii.worker_history')).toEqual([{ worker_id: 'b' }])
      const left = await engine.rows('select quarantine_id as id from ops.quarantine order by 1')
      expect(left).toEqual([{ id: 'a open' }, { id: 'b open' }, { id: 'b resolved' }])
      expect(await applyRetention(place, { landing: 90, inbox: 90, quarantine: 90 })).toMatchObject({
        piiHistory: 0,
      })
    })
  },
  'all',
)
