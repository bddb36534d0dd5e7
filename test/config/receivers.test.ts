/** A token of notify or lineage is sent over https, or to this machine. */
import { expect, test } from 'vitest'
import { acme, DUCKDB, ENV, KEY, load, messageOf } from './written-settings.ts'

const TOKEN = { ...ENV, TOKEN: 'token-0123456789' }

const settings =
  (group: string, url: string, ...more: string[]) =>
  () =>
    load(acme(KEY, DUCKDB, `${group}:`, `  url: ${url}`, ...more.map(line => `  ${line}`)), TOKEN)

const token = `token: \${TOKEN}`

test.each(['notify', 'lineage'])('%s', group => {
  for (const url of ['http://hooks.example.com/x', 'http://10.0.0.5/x', 'http://169.254.169.254/x'])
    expect(messageOf(settings(group, url, token))).toContain(
      `connections.acme.${group}.url is http, and its token would be readable on the way: use https`,
    )
  expect(messageOf(settings(group, 'https://me:secret@hooks.example.com/x'))).toContain(
    `connections.acme.${group}.url carries credentials: write them to connections.acme.${group}.token`,
  )
  for (const url of [
    'https://hooks.example.com/x',
    'http://127.0.0.1:1/x',
    'http://localhost:1/x',
    'http://[::1]:1/x',
  ])
    expect(settings(group, url, token)).not.toThrow()
  expect(settings(group, 'http://marquez.example.com/api/v1/lineage')).not.toThrow()
})
