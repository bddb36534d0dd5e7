/** Declares the tables of notifications: what was sent or still has to be, and how the alerts of the settings stand. */
import { count, day, type LedgerRow, oneOf, optional, real, table, text, time } from '../declaration.ts'

export const notificationTables = {
  notification: table({
    description:
      'One row per condition that users are notified of: what was sent last, and what is still to be sent.',
    columns: {
      topic: text('Kind of condition: run for the end of a DAG, else the type of the notification.'),
      subject: text('The DAG, resource or alert; empty when it is about the connection.'),
      type: text('Type, as in the settings.'),
      severity: oneOf(['error', 'warning', 'info']),
      state: text('Identifies the condition: a notification is sent when it changes.'),
      message: text('What users read; without personal data.'),
      query: optional(text('SQL that shows the rows; null without one.')),
      seen_at: time('When it was first in this state.'),
      pending: text('Channels that still have to receive it, separated by commas; empty when all have.'),
      attempts: count('Failed attempts to send it.'),
      error: optional(text('Why the last attempt failed.')),
      sent_state: optional(text('State that was sent last; null before the first.')),
      sent_at: optional(time('When it was sent.')),
    },
    key: ['topic', 'subject'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  alert: table({
    description: 'One row per alert, group and state: since when, until when, and the value of its measure.',
    columns: {
      alert: text('Name in the settings.'),
      group_key: text('Currency or other value that figures are never added over; empty without one.'),
      state: oneOf({
        fires: 'the condition is met',
        quiet: 'it is not met',
        unknown: 'it could not be evaluated',
      }),
      began_at: time('When a build found it in this state, or in this state for a new period.'),
      ended_at: optional(time('When a build found another state; null for the current one.')),
      checked_at: time('When it was last evaluated in this state.'),
      measure: text('Mart and measure.'),
      condition: text('Condition, as in the settings.'),
      period: optional(day('Date of the settled week or month; null for a measure without one.')),
      value: optional(real('Value of the measure.')),
      low: optional(real('Lower end of the usual range.')),
      high: optional(real('Upper end of the usual range.')),
      query: optional(text('SQL that shows the rows.')),
      note: optional(text('Why it could not be evaluated.')),
    },
    key: ['alert', 'group_key', 'began_at'],
    isPublished: true,
    lifetime: 'local',
  }),
}

export type NotificationRow = LedgerRow<typeof notificationTables.notification>
export type AlertRow = LedgerRow<typeof notificationTables.alert>
