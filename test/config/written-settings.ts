/** Settings files as tests write them, in a folder of their own, and what is said of those that are wrong. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Environment } from '../../src/config/environment.ts'
import { loadSettings } from '../../src/config/settings.ts'
import { ConfigError } from '../../src/lib/errors.ts'

export const ENV = { KEY: 'key-0123456789', HOOK: 'hook-0123456789', PASSWORD: 'pass word' }
const URL_LINE = 'baseUrl: https://api.example.com/api/open/v1'

export function folder(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'muster-config-'))
  mkdirSync(join(cwd, 'config'))
  return cwd
}

export function load(text: string, env: Environment = ENV, cwd = folder()) {
  writeFileSync(join(cwd, 'config/muster.yaml'), text)
  return { settings: loadSettings({ env, cwd }), cwd }
}

/** Text of a connection `acme` whose lines from the fourth on are given. */
export function acme(...lines: string[]): string {
  return ['connections:', '  acme:', `    ${URL_LINE}`, ...lines.map(line => `    ${line}`)].join('\n')
}

export const KEY = `apiKey: \${KEY}`
export const DUCKDB = 'warehouse: duckdb:data/acme.duckdb'

export function messageOf(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}
