#!/usr/bin/env node
/** The program: reads the command line, runs it, and leaves with its exit code. */
import { keepMemorySmall } from './config/memory.ts'

keepMemorySmall()
const [{ commandSet }, { run }, { systemWorld }] = await Promise.all([
  import('./cli/commands.ts'),
  import('./cli/program.ts'),
  import('./cli/world.ts'),
])

process.stdout.on('error', error => {
  // The reader went away, as in `muster runs | head`: that is no failure.
  if ('code' in error && error.code === 'EPIPE') process.exit(0)
  throw error
})

// Warehouse, log and pages hold personal data: whatever is written is its owner's alone; publish opens its copy to all.
process.umask(0o077)

const status = await run(process.argv.slice(2), systemWorld(), commandSet)
// Leaves only once everything written to a pipe has arrived, and even if a handle is still open.
process.stdout.write('', () => process.exit(status))
