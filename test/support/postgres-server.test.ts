/** The package of the test server must not change the exit code: a run with a failed test has to fail. */
import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname

test('the exit code of a process that can start a server is its own', async () => {
  const code = await new Promise(resolve => {
    const script = `import('./test/support/postgres-server.ts').then(() => { process.exitCode = 3 })`
    execFile(process.execPath, ['--import', 'tsx', '-e', script], { cwd: root }, error =>
      resolve(error?.code ?? 0),
    )
  })
  expect(code).toBe(3)
})
