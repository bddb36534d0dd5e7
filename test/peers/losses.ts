/**
 * `npm run bench -- losses`: what Muster and others hold after two runs during which the source moved and one in which it
 * rested. Fails where Muster lacks a record, or has an old one.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DuckDBInstance } from '@duckdb/node-api'
import { root } from '../bench/root.ts'
import { emptied, measured, type Peer, peers } from './peer.ts'

interface Source {
  readonly url: string
  /** Stops the changes: all that it holds, by id, with the time of the last change. */
  rest(): Promise<ReadonlyMap<string, number>>
  stop(): void
}

async function startSource(count: number): Promise<Source> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/peers/moving-source.ts', String(count)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>(resolve => lines.once('line', resolve))
  return {
    url,
    async rest() {
      const answer = await fetch(new URL('/rest', url))
      return new Map((await answer.json()) as [string, number][])
    },
    stop: () => void child.kill(),
  }
}

async function heldBy({ held }: Peer, file: string): Promise<ReadonlyMap<string, number>> {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    await connection.run(`set timezone = 'UTC'`)
    const reader = await connection.runAndReadAll(held)
    return new Map(reader.getRowObjects().map(({ id, at }) => [String(id), Number(at)]))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

interface Losses {
  readonly missing: number
  readonly stale: number
  /** Held, though the source has them no more. */
  readonly deleted: number
}

function lossesOf(source: ReadonlyMap<string, number>, held: ReadonlyMap<string, number>): Losses {
  const missing = [...source.keys()].filter(id => !held.has(id)).length
  const stale = [...source].filter(([id, at]) => held.has(id) && held.get(id) !== at).length
  const deleted = [...held.keys()].filter(id => !source.has(id)).length
  return { missing, stale, deleted }
}

async function lossesWith(peer: Peer, count: number): Promise<Losses> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-losses-'))
  const source = await startSource(count)
  try {
    const place = emptied({ warehouse: join(folder, 'place', 'peer.duckdb'), folder: join(folder, 'place') })
    for (let run = 0; run < 2; run += 1) await measured(peer, source.url, place)
    const truth = await source.rest()
    await measured(peer, source.url, place)
    return lossesOf(truth, await heldBy(peer, place.warehouse))
  } finally {
    source.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function printLosses(count: number): Promise<void> {
  console.log(`| of ${count.toLocaleString('en')} timesheets | missing | stale | held though deleted |`)
  console.log('| --- | --- | --- | --- |')
  for (const peer of peers) {
    const { missing, stale, deleted } = await lossesWith(peer, count)
    console.log(`| ${peer.name} | ${missing} | ${stale} | ${deleted} |`)
    if (peer === peers[0] && missing + stale > 0) throw new Error('Muster lost records')
  }
}
