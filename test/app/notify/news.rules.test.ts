/** Which states are news. */
import { expect, test } from 'vitest'
import { type NotifiedCondition, nextRow } from '../../../src/state/notifications/notifications.ts'
import type { NotificationRow } from '../../../src/state/notifications/tables.ts'

const at = '2026-11-02T03:00:00.000Z'
const condition: NotifiedCondition = {
  ...{ topic: 'run', subject: 'nightly', type: 'runFailed', severity: 'error', state: 'failed: sync' },
  ...{ message: 'nightly failed', query: null },
}
const news = { channels: ['url', 'email'], at }
const row = (change: Partial<NotificationRow>): NotificationRow => ({
  ...condition,
  ...{ seen_at: at, pending: '', attempts: 0, error: null, sent_state: null, sent_at: null },
  ...change,
})

test('a new state goes to every channel', () => {
  expect(nextRow(undefined, condition, news)?.pending).toBe('url,email')
  expect(nextRow(row({ state: 'failed: build' }), condition, news)?.pending).toBe('url,email')
})

test('a state that was sent last is no news, even if another was waiting', () => {
  const known = row({ state: 'failed: build', sent_state: 'failed: sync', pending: 'url' })
  expect(nextRow(known, condition, news)?.pending).toBe('')
})

test('what a channel did not accept waits for it, and for all channels if the settings dropped it', () => {
  expect(nextRow(row({ pending: 'email' }), condition, news)?.pending).toBe('email')
  expect(nextRow(row({ pending: 'command' }), condition, news)?.pending).toBe('url,email')
})

test('a recovery is news only after a failure that was sent', () => {
  const done = { ...condition, type: 'runRecovered', state: 'done' }
  expect(nextRow(undefined, done, news)).toBeUndefined()
  expect(nextRow(row({ pending: 'url' }), done, news)).toBeUndefined()
  expect(nextRow(row({ sent_state: 'failed: sync' }), done, news)?.pending).toBe('url,email')
  expect(nextRow(row({ state: 'done', sent_state: 'done' }), done, news)?.pending).toBe('')
})
