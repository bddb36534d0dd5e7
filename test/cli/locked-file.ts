/** A process that has a warehouse file open, because DuckDB's lock does not keep a process out of its own file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { atEndOfFile } from '../support/ends.ts'

const api = import.meta.resolve('@duckdb/node-api')
const holders: ChildProcess[] = []

atEndOfFile(() => {
  for (const holder of holders.splice(0)) holder.kill()
})

/** Resolves to the id of the process, once it holds the file. */
export async function holdFile(file: string): Promise<number> {
  const code = `const { DuckDBInstance } = await import('${api}')
    globalThis.held = await DuckDBInstance.create('${file}')
    console.log('held'); setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  holders.push(holder)
  await once(holder.stdout, 'data')
  return holder.pid ?? 0
}
