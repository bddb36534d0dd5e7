/**
 * `npm run bench -- peers`: the same timesheets read from the same server by Muster and by what people use in its place, in
 * turn, each from an empty warehouse. Prints the table of docs/benchmarks.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { median, startServer } from '../bench/sync-run.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { emptied, measured, type Peer, type Place, peers, python, type Taken } from './peer.ts'
import { postgresSeconds } from './postgres-time.ts'

const changed = 500

/** Runs of one night after the other. */
const works = ['first load', 'second run, nothing new', 'nothing new', `${changed} changed`] as const

type Work = (typeof works)[number]

interface Engine {
  readonly name: string
  fresh(): Promise<Place>
  /** Seconds of the processor that a server has used beside the program. */
  seconds(): Promise<number>
  stop(): Promise<void>
}

function duckdb(folder: string): Engine {
  const place = { warehouse: join(folder, 'place', 'peer.duckdb'), folder: join(folder, 'place') }
  return { name: 'DuckDB', fresh: async () => emptied(place), seconds: async () => 0, stop: async () => {} }
}

async function postgres(folder: string): Promise<Engine> {
  const server = await startPostgres()
  const admin = `${server.url}/postgres`
  const fresh = async (): Promise<Place> => {
    const client = new pg.Client({ connectionString: admin })
    await client.connect()
    try {
      await client.query('drop database if exists peers with (force)')
      await client.query('create database peers')
    } finally {
      await client.end()
    }
    return emptied({ warehouse: `${server.url}/peers`, folder: join(folder, 'beside') })
  }
  return { name: 'PostgreSQL', fresh, seconds: () => postgresSeconds(admin), stop: () => server.stop() }
}

interface Sources {
  readonly same: string
  readonly later: string
}

/** By work. */
type Nights = ReadonlyMap<Work, Taken>

/** A night of each round. */
type Found = ReadonlyMap<Peer, readonly Nights[]>

async function nights(engine: Engine, peer: Peer, { same, later }: Sources): Promise<Nights> {
  const place = await engine.fresh()
  const taken = new Map<Work, Taken>()
  for (const work of works) {
    const before = await engine.seconds()
    const { cpu, megabytes } = await measured(peer, work === `${changed} changed` ? later : same, place)
    taken.set(work, { cpu: cpu + (await engine.seconds()) - before, megabytes })
  }
  return taken
}

function cell(rounds: readonly Nights[], work: Work, own: number): string {
  const all = rounds.map(round => round.get(work) as Taken)
  const cpu = median(all.map(one => one.cpu))
  const ratio = own === cpu ? '' : `${(cpu / own).toFixed(2)} x, `
  return `${ratio}${cpu.toFixed(1)} s, ${Math.max(...all.map(one => one.megabytes))} MB`
}

function print(engine: string, count: number, found: Found): void {
  for (const work of works) {
    const own = median((found.get(peers[0] as Peer) ?? []).map(round => round.get(work)?.cpu ?? 0))
    const cells = peers.map(peer => cell(found.get(peer) ?? [], work, own))
    console.log(`| ${count.toLocaleString('en')}, ${engine}: ${work} | ${cells.join(' | ')} |`)
  }
}

async function compare(engine: Engine, sources: Sources, rounds: number): Promise<Found> {
  const found = new Map<Peer, Nights[]>(peers.map(peer => [peer, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const peer of peers) found.get(peer)?.push(await nights(engine, peer, sources))
  return found
}

export async function comparePeers(count: number, rounds: number, only?: string): Promise<void> {
  python()
  const folder = mkdtempSync(join(tmpdir(), 'muster-peers-'))
  const same = await startServer({ count, timelogs: 'with' })
  const later = await startServer({ count, timelogs: 'with', changed })
  console.log(`| timesheets with timelogs | ${peers.map(({ name }) => name).join(' | ')} |`)
  console.log(`| --- |${' --- |'.repeat(peers.length)}`)
  try {
    for (const open of [async () => duckdb(folder), () => postgres(folder)]) {
      const engine = await open()
      try {
        if (only === undefined || engine.name.toLowerCase() === only)
          print(engine.name, count, await compare(engine, { same: same.url, later: later.url }, rounds))
      } finally {
        await engine.stop()
      }
    }
  } finally {
    same.process.kill()
    later.process.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
