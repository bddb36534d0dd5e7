/** The built program as a process that receives events, and dies in the middle of it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'
import { eventBody, SECRET, served, signed } from './served.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

interface Child {
  readonly url: string
  /** Resolves when it is gone. */
  kill(): Promise<void>
}

/** Over a closed warehouse. */
async function startServe({ address, landing }: Pick<Warehouse, 'address' | 'landing'>): Promise<Child> {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const env = {
    ...process.env,
    // Nobody listens there: lists that were never read whole are not asked for.
    MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: address,
    MUSTER_LANDING: landing,
    MUSTER_WEBHOOK_SECRET: SECRET,
  }
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--no-schedule', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', data => {
    errors += data
  })
  const exits = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', data => {
      text += data
      if (text.includes('\n}\n')) resolve((JSON.parse(text) as { url: string }).url)
    })
    exits.then(([code]) => reject(new Error(`serve ended with ${code}: ${errors}`)))
  })
  return {
    url,
    async kill() {
      child.kill('SIGKILL')
      await exits
    },
  }
}

/** Posts events one after the other on some connections until told to stop; notes those that were answered 202. */
function keepPosting(url: string, name: string, acknowledged: Set<string>) {
  const agent = new Agent({ connections: 16 })
  let isOver = false
  let sent = 0
  const sender = async (): Promise<void> => {
    while (!isOver) {
      sent += 1
      const id = `${name}_${sent}`
      const { body, headers } = signed(eventBody(id))
      try {
        const answer = await request(url, { method: 'POST', body, headers, dispatcher: agent })
        await answer.body.dump()
        if (answer.statusCode === 202) acknowledged.add(id)
      } catch {
        // Not answered: the sender would try again.
        await wait(5)
      }
    }
  }
  const senders = Promise.all(Array.from({ length: 16 }, sender))
  return {
    async stop() {
      isOver = true
      await senders
      await agent.destroy()
    },
  }
}

/** Kills it so many times under load, then drains what is left; gives what was acknowledged. */
export async function surviveKills(warehouse: Warehouse, kills: number): Promise<Set<string>> {
  const acknowledged = new Set<string>()
  await warehouse.close()
  for (let kill = 1; kill <= kills; kill += 1) {
    const child = await startServe(warehouse)
    const posting = keepPosting(child.url, `evt_${kill}`, acknowledged)
    // Before, in the middle of and after a drain, which comes once a second.
    await wait(150 + ((kill * 277) % 1300))
    await child.kill()
    await posting.stop()
  }
  await warehouse.open()
  await (await served(warehouse)).stop()
  return acknowledged
}
