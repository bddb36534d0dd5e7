/** What Slack and Teams receive. */
import { expect, test } from 'vitest'
import { jsonBody, messageVariables, titleOf } from '../../src/telemetry/notify/message.ts'

const one = {
  type: 'schemaDrift',
  severity: 'warning',
  subject: 'sites',
  message: 'new <field>',
  query: 'select 1',
}
const group = {
  connection: 'acme',
  notifications: [{ ...one, severity: 'error', type: 'runFailed', query: null }, one],
}

test('Slack gets a block for each notification, with its query, and no markup of the message', () => {
  expect(jsonBody(group, 'slack')).toEqual({
    text: 'acme: new &lt;field&gt;\nacme: new &lt;field&gt;',
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: ':red_circle: acme: new &lt;field&gt;' } },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: ':large_orange_circle: acme: new &lt;field&gt;\n```select 1```' },
      },
    ],
  })
})

test('Teams gets one Adaptive Card', () => {
  expect(jsonBody(group, 'teams')).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          body: [{ color: 'Attention' }, { color: 'Warning' }, { text: 'select 1' }],
        },
      },
    ],
  })
})

test('the subject of an e-mail is the worst notification, and counts the others', () => {
  expect(titleOf(group)).toBe('acme: new <field> (and 1 more)')
  expect(messageVariables(group)).toMatchObject({
    MUSTER_SEVERITY: 'error',
    MUSTER_TYPES: 'runFailed,schemaDrift',
  })
})
