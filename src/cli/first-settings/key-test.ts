/** One request that tells whether address and key of new settings are right. */
import { type Finding, failed } from '../../app/checkup/finding.ts'
import { keyFindings } from '../../app/checkup/key.ts'
import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { connectionNamed, loadSettings } from '../../config/settings.ts'
import type { CommandContext } from '../context.ts'

/** The first finding is about the key itself. */
export async function testKey(context: CommandContext, file: string): Promise<readonly Finding[]> {
  const { env, cwd, clock, signal } = context
  try {
    const connection = connectionNamed(loadSettings({ configFile: file, env, cwd }))
    context.hide(connection.apiKey.reveal())
    const { client, close } = await openAdHocClient(connection, context)
    try {
      return keyFindings(await client.getMe(), clock.now())
    } finally {
      await close()
    }
  } catch (error) {
    signal.throwIfAborted()
    return [failed('key', error)]
  }
}
