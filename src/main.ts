#!/usr/bin/env node
/** The program: reads the command line, runs it, and leaves with its exit code. */
import { commandSet } from './cli/commands.ts'
import { run } from './cli/program.ts'
import { systemWorld } from './cli/world.ts'

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
