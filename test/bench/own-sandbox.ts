/** The sandbox of the built program, as a process of its own. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './root.ts'

export interface OwnSandbox {
  readonly url: string
  stop(): void
}

export async function startSandbox(options: readonly string[] = []): Promise<OwnSandbox> {
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'sandbox', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+\/api\/open\/v1$/.exec(line)?.[0]
    if (url) return { url, stop: () => void child.kill() }
  }
  throw new Error('the sandbox did not start')
}
